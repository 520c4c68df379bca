import type { OperationKey } from "@perch/sdk";
import { command } from "../command.ts";
import { jsonText } from "../output/safe-text.ts";
import { UsageError } from "../problem.ts";

/** The query string is split off, because the SDK takes it separately. */
function requestOf(method: string, address: string, body: string | undefined) {
  if (!/^(GET|POST|PATCH|DELETE)$/.test(method)) throw new UsageError("perch api: GET, POST, PATCH or DELETE.");
  if (!address.startsWith("/v1/")) throw new UsageError("perch api: the path begins with /v1/.");
  const [path = "", search = ""] = address.split("?");
  const query = Object.fromEntries(new URLSearchParams(search));
  try {
    return { key: `${method} ${path}` as OperationKey, request: { query, ...(body && { body: JSON.parse(body) }) } };
  } catch {
    throw new UsageError("perch api: --data is not JSON.");
  }
}

export const api = command({
  name: "api",
  summary: "Call any operation of the API and print its response.",
  details: "Uses the same key, retries and errors as other commands. --data - reads the body from standard input.",
  args: ["method", "path"],
  options: { data: { type: "string", short: "d", value: "JSON", help: "The request body." } },
  examples: ["perch api GET '/v1/agents?limit=1'", "perch api POST /v1/agents/support/pause"],
  run: async ({ perch, terminal, signal }, { method, path }, { data }) => {
    const body = data === "-" ? await terminal.readAll() : data;
    const { key, request } = requestOf(method.toUpperCase(), path, body);
    const answer: unknown = await perch().request(key, request as never, { signal });
    terminal.line(jsonText(answer, 2));
  },
});
