import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { parsePublicId } from "../../packages/server/src/platform/ids.ts";
import type { Installation } from "./installation.ts";
import type { Person } from "./users.ts";

/** Makes the access token of a connection expire now, as far as Perch knows. */
export const expireToken = ({ postgres }: Installation, connection: string): Promise<unknown> =>
  withClient(postgres.adminUrl, (client) =>
    client.query("update connections set access_expires_at = now() - interval '1 second' where id = $1", [
      parsePublicId("connection", connection),
    ]),
  );

/** The access tokens that calls of this person have carried so far. */
export const usedTokens = ({ mcp }: Installation, { login }: Person): ReadonlySet<string> =>
  new Set(mcp.calls.filter(({ user }) => user === login).map(({ token }) => token));

/** Requests since `from` that carried a token of `stale`. */
export const countStale = ({ mcp }: Installation, from: number, stale: ReadonlySet<string>): number =>
  mcp.requests.slice(from).filter(({ token }) => token !== undefined && stale.has(token)).length;
