import { largeAgents } from "./neighbour-tenants.ts";

/** How many requests at once, how often, and how many in all. */
type Pace = readonly [count: number, everySeconds: number, max?: number];

export interface AttackRequest {
  readonly method?: "POST" | "DELETE";
  /** Below `/v1/agents/`, if it does not begin with `/`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object, or a text that is sent as it is. */
  readonly body?: object | string;
  /** The API node that gets it; otherwise they take turns. */
  readonly node?: number;
}

export interface Attack {
  /** The load of each organisation. Over a minute, all attacks together fit into the rate limit of its tier. */
  readonly free: Pace;
  readonly pro: Pace;
  readonly request: (n: number) => AttackRequest;
  /** The status of refusals that the attack is after. */
  readonly refusal?: string;
}

const events = { accept: "text/event-stream" };
const background = { prefer: "respond-async" };

/** As long as a message may be in memory and for the embedder. */
const longText = (n: number) => `${n} ${"the quick brown fox jumps over the lazy dog ".repeat(180)}`.slice(0, 8000);

/**
 * Long runs, many of them in the same session, and many requests that join a run by its Idempotency-Key and occupy no
 * slot.
 */
const runsOfTheirOwn = 100;
const sessions = 30;
const joinedRuns = 10;

const waitForSlowRun = (n: number): AttackRequest => {
  const isJoined = n >= runsOfTheirOwn;
  const context = { session_id: `session-${n % sessions}` };
  return {
    method: "POST",
    path: "slow/invoke",
    node: 0,
    headers: isJoined ? { "idempotency-key": `join-${n % joinedRuns}` } : {},
    body: isJoined ? { message: "join" } : { message: "wait", context },
  };
};

const useMemory = (n: number): AttackRequest => {
  if (n === 0) return { method: "DELETE", path: "archive/memory" };
  return n % 2 === 0
    ? { method: "POST", path: "notes/memory", body: { content: longText(n) } }
    : { method: "POST", path: "notes/memory/search", body: { query: longText(n) } };
};

const invoke = (agent: string, n: number, headers = {}): AttackRequest => ({
  method: "POST",
  path: `${agent}/invoke`,
  headers,
  body: { message: `message ${n}` },
});

const badServerAgents = ["silent-model", "trickle-model", "flood-model", "bad-tools"];
const hostileAgents = ["hostile-model", "hostile-memory"];
const oneOf = (names: readonly string[], n: number): string => names[n % names.length] ?? "";

/** A megabyte of wrong values, for an operation with a key and for one without. */
const junk = "0,".repeat(500_000);
const junkBodies: readonly AttackRequest[] = [
  { method: "POST", path: "/v1/keys", body: `{"name":"k","permissions":[${junk}0]}` },
  { method: "POST", path: "/v1/keys/revoke-leaked", body: `{"keys":[${junk}0]}` },
];

/** The attacks of the bad neighbours, all at once. The names are those of `--only`. */
export const attacks: Readonly<Record<string, Attack>> = {
  "log-searches": {
    pro: [40, 8],
    free: [10, 20],
    request: (n) => ({ path: `log/logs?contains=needle-${n}` }),
  },
  "large-agents": {
    pro: [1, 0.25],
    free: [1, 5],
    request: (n) => {
      const name = `large-${1 + (n % largeAgents)}`;
      return { ...(n % 2 === 0 ? { path: name } : invoke(name, n)), node: 0 };
    },
  },
  "waiting-runs": { pro: [6, 0.1, 1060], free: [1, 0.1, 20], request: waitForSlowRun },
  "slow-webhooks": { pro: [1, 6], free: [1, 6], request: (n) => invoke("hooked", n) },
  "log-tails": {
    pro: [5, 0.1, 220],
    free: [1, 0.1, 10],
    request: () => ({ path: "log/logs", headers: events, node: 1 }),
  },
  "bad-servers": {
    pro: [1, 0.5],
    free: [1, 6],
    request: (n) => invoke(oneOf(badServerAgents, n), n, background),
  },
  "hanging-issuer": {
    pro: [32, 8],
    free: [4, 15],
    request: (n) => ({ path: "guarded", headers: { "x-user-token": `opaque-${n}` } }),
  },
  "version-diffs": {
    pro: [100, 20],
    free: [3, 20],
    request: () => ({ path: "versions/versions/one/diff?to=two" }),
  },
  memory: { pro: [1, 0.5], free: [1, 6], request: useMemory },
  "hostile-texts": {
    pro: [1, 1],
    free: [1, 12],
    request: (n) => invoke(oneOf(hostileAgents, n), n, background),
  },
  deployments: {
    pro: [1, 1],
    free: [1, 20],
    request: (n) => ({
      method: "POST",
      path: "deployed/deployments",
      body: { environment: "production", version: `version-${n}` },
    }),
  },
  "junk-bodies": {
    pro: [1, 1],
    free: [1, 6],
    request: (n) => junkBodies[n % junkBodies.length] ?? { path: "" },
    refusal: "413",
  },
  "long-searches": { pro: [1, 1], free: [1, 12], request: (n) => invoke("searched", n, background) },
  "wide-lists": { pro: [1, 1], free: [1, 6], request: () => ({ path: "wide/invocations?limit=100" }) },
};

/** The number of requests that an attack sends in so many seconds. */
export const requestsWithin = ([count, everySeconds, max = Number.POSITIVE_INFINITY]: Pace, seconds: number): number =>
  Math.min(max, count * Math.ceil(seconds / everySeconds));
