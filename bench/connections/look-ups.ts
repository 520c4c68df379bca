import type { Core } from "../../packages/server/src/compose/core.ts";
import { toPublicId } from "../../packages/server/src/platform/ids.ts";
import { createFindToken } from "../../packages/server/src/resources/connections/find-connection-token.ts";
import type { Figures } from "../comparison.ts";
import type { Installation } from "../installation.ts";
import { measureSideBySide, type Subjects, timedGet } from "../side-by-side.ts";
import type { Accounts, Subject } from "./stored-connections.ts";

const pageSize = 20;

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly pagination: { readonly next_cursor: string | null };
}

type Query = (subject: Subject, round: number) => Record<string, string>;

const listUrl = (url: string, { agentId }: Subject, query: Record<string, string>): string =>
  `${url}/v1/agents/${toPublicId("agent", agentId)}/connections?${new URLSearchParams(query)}`;

const userOf = ({ users }: Subject, round: number): string => users[(round * 7) % users.length] ?? "";

const never = (): never => {
  throw new Error("A token that has not ended was to be refreshed");
};

/** What a worker does for each call of a tool with a user's account. */
function createLookUp({ db, keys: { connectionGrants }, logger }: Core, { issuer, tool }: Accounts) {
  const findToken = createFindToken({
    db,
    connectionGrants,
    logger,
    refreshGrant: never,
    findAgentToken: never,
  });
  const connection = { account: "user" as const, issuer, return_urls: [`${issuer}/back`] };
  return async ({ organisationId, agentId, ...subject }: Subject, round: number): Promise<number> => {
    const userId = userOf({ organisationId, agentId, ...subject }, round);
    const start = performance.now();
    const { value } = await findToken(
      { organisationId, agentId, userId },
      { ...tool, connection },
      { signal: AbortSignal.timeout(10_000) },
    );
    const ms = performance.now() - start;
    if (!value.startsWith(`access-${userId}-`)) throw new Error(`${userId} got the token ${value.slice(0, 20)}`);
    return ms;
  };
}

/** Whether a page of the list, and the token of a run's call, take longer where an agent has ten thousand times the users. */
export async function lookUps(
  { url }: Installation,
  core: Core,
  accounts: Accounts,
  subjects: Subjects<Subject>,
): Promise<Figures> {
  const later = new Map<Subject, string>();
  for (const subject of subjects) {
    const { body } = await timedGet<Page>(listUrl(url, subject, { limit: String(pageSize) }), subject.key);
    later.set(subject, body.pagination.next_cursor ?? "");
  }
  const pages: Readonly<Record<string, Query>> = {
    list: () => ({ limit: String(pageSize) }),
    list_later: (subject) => ({ limit: String(pageSize), cursor: later.get(subject) ?? "" }),
    list_active: () => ({ limit: String(pageSize), status: "active" }),
  };
  const measure = (name: string, count: number, query: Query) =>
    measureSideBySide(name, subjects, async (subject, round) => {
      const { ms, body } = await timedGet<Page>(listUrl(url, subject, query(subject, round)), subject.key);
      if (body.data.length !== count) throw new Error(`${name}: a page of ${body.data.length} connections`);
      return ms;
    });
  let figures: Figures = {};
  for (const [name, query] of Object.entries(pages))
    figures = { ...figures, ...(await measure(name, pageSize, query)) };
  const ofUser = await measure("list_of_user", 1, (subject, round) => ({ user_id: userOf(subject, round) }));
  const lookedUp = await measureSideBySide("token_look_up", subjects, createLookUp(core, accounts));
  return { ...figures, ...ofUser, ...lookedUp };
}
