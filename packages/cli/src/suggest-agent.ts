import { NotFoundError, Perch } from "@perch/sdk";
import type { Connection } from "./connection.ts";
import { nearest } from "./nearest.ts";
import { RunProblem } from "./problem.ts";

/** A suggestion is not worth a longer wait. */
const timeoutSeconds = 3;

/** The agent that was probably meant, if an error says that there is no such agent. Asks the server once; a failure suggests nothing. */
export async function suggestAgent(error: unknown, { url, key }: Connection): Promise<string | undefined> {
  const cause = error instanceof RunProblem ? error.cause : error;
  const missing =
    cause instanceof NotFoundError ? /^There is no agent "([^"]+)"/.exec(cause.shortMessage)?.[1] : undefined;
  if (missing === undefined) return undefined;
  const perch = new Perch({ baseUrl: url, apiKey: key, timeoutSeconds, maxRetries: 0 });
  const names = await perch.agents.list({ limit: 100 }).then(
    ({ data }) => data.map(({ name }) => name),
    () => [],
  );
  return nearest(missing, names);
}
