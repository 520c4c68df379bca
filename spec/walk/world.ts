import { randomBytes } from "node:crypto";
import { eventually, single } from "./expectations.ts";
import { type Answer, type RequestParts, sendRequest } from "./http-client.ts";
import type { OwnServer } from "./own-server.ts";

interface CallParts extends RequestParts {
  /** Another key than the admin's; null sends none. */
  readonly key?: string | null;
}

export type Call = (method: string, path: string, parts?: CallParts) => Promise<Answer>;

/** The server under test, and the objects that the statements have created there so far. */
export interface World {
  readonly url: string;
  readonly key: string;
  readonly call: Call;
  /** The same value for every statement that asks for it by this name. */
  readonly once: <T>(name: string, make: () => Promise<T>) => Promise<T>;
  readonly own: () => OwnServer;
  /** Credentials with which agents that demand a token or a second factor can be removed in the end. */
  readonly removal: { key: string; readonly headers: Record<string, string> };
  /** Removes the agents and revokes the keys that the walk has made. */
  readonly cleanUp: () => Promise<void>;
}

interface Target {
  readonly url: string;
  readonly key: string;
  readonly own?: OwnServer;
}

export function createWorld({ url, key, own }: Target): World {
  const made = new Map<string, Promise<unknown>>();
  const madePaths: string[] = [];
  const removal: World["removal"] = { key, headers: {} };
  const call: Call = async (method, path, { key: as = key, headers, ...parts } = {}) => {
    const authorization: Record<string, string> = as === null ? {} : { authorization: `Bearer ${as}` };
    const answer = await sendRequest(method, url + path, { ...parts, headers: { ...authorization, ...headers } });
    const [collection = ""] = path.split("?");
    const isMade = method === "POST" && answer.status === 201 && as === key;
    if (isMade && ["/v1/agents", "/v1/keys"].includes(collection)) {
      madePaths.push(`${collection}/${answer.body.data.id}`);
    }
    return answer;
  };
  return {
    url,
    key,
    call,
    once: <T>(name: string, make: () => Promise<T>): Promise<T> => {
      const known = made.get(name) ?? make();
      made.set(name, known);
      return known as Promise<T>;
    },
    own: () => {
      if (!own) throw new Error("This statement needs the walk's own server");
      return own;
    },
    removal,
    cleanUp: async () => {
      for (const path of madePaths) await call("DELETE", path, path.startsWith("/v1/agents/") ? removal : {});
    },
  };
}

export const newName = (): string => `walk-${randomBytes(6).toString("hex")}`;

export interface MadeAgent {
  readonly id: string;
  readonly name: string;
  /** The beginning of its paths. */
  readonly path: string;
}

export async function newAgent({ call }: World, definition: object = {}, key?: string): Promise<MadeAgent> {
  const body = { name: newName(), model: "perch/echo", ...definition };
  // Settings that would refuse the walk itself are refused unless they are forced.
  const answer = await call("POST", "/v1/agents?force=true", { body, ...(key && { key }) });
  const { id, name } = single(answer, 201, "Create Agent");
  return { id, name, path: `/v1/agents/${id}` };
}

export const agent = (world: World): Promise<MadeAgent> => world.once("agent", () => newAgent(world));

/** An agent whose runs fail, because nothing serves its model. */
export const failingAgent = (world: World): Promise<MadeAgent> =>
  world.once("failing agent", () => newAgent(world, { model: "nowhere/none" }));

export interface Run {
  readonly agent: MadeAgent;
  readonly answer: Answer;
  readonly requestId: string;
  readonly tookMs: number;
}

export async function newRun(world: World, of?: MadeAgent, message = "hello"): Promise<Run> {
  const chosen = of ?? (await agent(world));
  const startedAt = performance.now();
  const answer = await world.call("POST", `${chosen.path}/invoke`, { body: { message } });
  const { request_id: requestId } = single(answer, 200, "Invoke Agent");
  return { agent: chosen, answer, requestId, tookMs: performance.now() - startedAt };
}

export const run = (world: World): Promise<Run> => world.once("run", () => newRun(world));

/** The log entries of the one run above, as soon as the log has them. */
export const logEntries = (world: World): Promise<Record<string, unknown>[]> =>
  world.once("log entries", async () => {
    const { agent: of, requestId } = await run(world);
    return eventually(async () => {
      const { data } = (await world.call("GET", `${of.path}/logs?limit=1000`)).body;
      const own = data.filter((entry: { metadata: { request_id: string } }) => entry.metadata.request_id === requestId);
      return own.length > 0 ? own : undefined;
    }, "a log entry of the run");
  });

/** The deployment, once it is active. */
export async function deploy(world: World, of: MadeAgent, version: string, environment = "production") {
  const answer = await world.call("POST", `${of.path}/deployments`, { body: { environment, version } });
  const { id } = single(answer, 201, "Create Deployment");
  return eventually(async () => {
    const listed = (await world.call("GET", `${of.path}/deployments?limit=100`)).body.data;
    const found = listed.find((deployment: { id: string }) => deployment.id === id);
    if (found?.status !== "active") return undefined;
    return found as { id: string; environment: string; version: string };
  }, `deployment ${version} active`);
}

export interface MadeKey {
  readonly id: string;
  readonly key: string;
  readonly permissions: readonly string[];
}

export async function newKey({ call }: World, body: object): Promise<MadeKey> {
  return single(await call("POST", "/v1/keys", { body: { name: newName(), ...body } }), 201, "Create API Key");
}
