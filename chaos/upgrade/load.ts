import { setTimeout as sleep } from "node:timers/promises";
import { Perch } from "../../packages/sdk/src/index.ts";
import { type AgentName, type Answer, agentNames, type SentRequest } from "../clients.ts";
import type { Installation } from "./installation.ts";

export type Kind = "invocation" | "stream" | "session_turn";

/** One call of a client, with the retries that its SDK made. */
export interface Sent extends SentRequest {
  readonly kind: Kind;
  /** Its run takes seconds, so that it is under way while releases change. */
  readonly isSlow: boolean;
  /** The final error of the SDK. */
  failure: string | undefined;
}

export interface Load {
  readonly sent: readonly Sent[];
  /** Starts no more calls, and resolves when every client has its answer or its error. */
  readonly finish: () => Promise<void>;
  /** Sends the keys of all answered calls again. */
  readonly resendAnswered: () => Promise<void>;
}

/** Six of ten calls are plain invocations, two are streams, and two are the next turn of a session. */
const kindOf = (number: number): Kind => (number % 10 < 6 ? "invocation" : number % 10 < 8 ? "stream" : "session_turn");
/** One call in ten, half of them streams. */
const isSlow = (number: number) => number % 20 === 0 || number % 20 === 7;
const maxTurns = 12;

/** No run takes this long by itself, so a call without an answer until then has failed. */
const giveUpSeconds = 90;

interface Session {
  readonly id: string;
  turns: number;
}

/** A session's next turn is sent when its last one was answered. */
function createSessions() {
  const idle: Session[] = [];
  let count = 0;
  return {
    take: (): Session => idle.shift() ?? { id: `session-${++count}`, turns: 0 },
    giveBack: (session: Session) => {
      if (session.turns < maxTurns) idle.push(session);
    },
  };
}

export async function createAgents(installation: Installation, token: string): Promise<void> {
  const perch = new Perch({ baseUrl: installation.haproxy.url, apiKey: token });
  for (const name of agentNames) await perch.agents.create({ name, model: "perch/script" });
  const [, agent_id] = agentNames;
  await perch.webhooks.create({ url: installation.receiver.url, events: ["agent.completed"], agent_id });
}

/** The platform's `fetch`, which also counts the attempts of each key. */
function countingFetch(byKey: ReadonlyMap<string, Sent>): typeof fetch {
  return async (input, init) => {
    const item = byKey.get(new Headers(init?.headers).get("idempotency-key") ?? "");
    if (item) item.attempts += 1;
    try {
      const response = await fetch(input, init);
      if (item && !response.ok) item.lastRefusal = String(response.status);
      return response;
    } catch (error) {
      if (item) item.lastRefusal = String(error instanceof Error ? (error.cause ?? error) : error);
      throw error;
    }
  };
}

interface Call {
  readonly number: number;
  readonly session: Session | undefined;
}

function toSent({ number, session }: Call): Sent {
  const slow = isSlow(number);
  const agent: AgentName = agentNames[number % 3 === 0 && !session ? 1 : 0];
  return {
    key: `upgrade-${process.pid}-${number}`,
    kind: kindOf(number),
    isSlow: slow,
    agent,
    message: slow ? `message ${number}, slowly in 4 steps` : `message ${number} in ${1 + (number % 3)} steps`,
    session: session && { id: session.id, index: session.turns },
    sentAtMs: performance.now(),
    answers: [],
    answeredAtMs: undefined,
    attempts: 0,
    lastRefusal: "",
    failure: undefined,
  };
}

async function invoke(perch: Perch, { kind, agent, message, session, key }: Sent): Promise<Answer> {
  const body = { message, ...(session && { context: { session_id: session.id } }) };
  const options = { idempotencyKey: key, signal: AbortSignal.timeout(giveUpSeconds * 1000) };
  const { response, request_id } =
    kind === "stream"
      ? await perch.agents.invokeStream(agent, body, options).result()
      : await perch.agents.invoke(agent, body, options);
  return { response, requestId: request_id };
}

/** Eight at a time. A stream has no answer to compare. */
async function resendAnswered(perch: Perch, sent: readonly Sent[]): Promise<void> {
  const remaining = sent.filter(({ answers, kind }) => answers.length > 0 && kind !== "stream").values();
  const resend = async () => {
    for (const item of remaining)
      item.answers.push(
        await invoke(perch, item).catch((error: unknown) => ({ response: String(error), requestId: "" })),
      );
  };
  await Promise.all(Array.from({ length: 8 }, resend));
}

/**
 * Limits the open calls to those of so many seconds. A machine that is too slow for the rate gets a lower one, which is
 * reported.
 */
const maxOpenSeconds = 2;

/** Starts calls at a fixed rate: clients do not wait for an upgrade. */
export function startLoad(url: string, token: string, callsPerSecond: number): Load {
  const sent: Sent[] = [];
  const byKey = new Map<string, Sent>();
  const perch = new Perch({ baseUrl: url, apiKey: token, fetch: countingFetch(byKey) });
  const sessions = createSessions();
  const open = new Set<Promise<void>>();
  const stopped = new AbortController();

  const call = async (number: number): Promise<void> => {
    const session = kindOf(number) === "session_turn" ? sessions.take() : undefined;
    const item = toSent({ number, session });
    sent.push(item);
    byKey.set(item.key, item);
    try {
      item.answers.push(await invoke(perch, item));
      item.answeredAtMs = performance.now();
      if (!session) return;
      session.turns += 1;
      sessions.giveBack(session);
    } catch (error) {
      item.failure = String(error);
    }
  };

  const run = async () => {
    let dueMs = performance.now();
    for (let number = 1; !stopped.signal.aborted; number++) {
      const promise = call(number).finally(() => open.delete(promise));
      open.add(promise);
      dueMs = Math.max(dueMs + 1000 / callsPerSecond, performance.now());
      await sleep(Math.max(dueMs - performance.now(), 0), undefined, { signal: stopped.signal }).catch(() => undefined);
      while (open.size >= callsPerSecond * maxOpenSeconds) await Promise.race(open);
    }
  };
  const running = run();

  return {
    sent,
    finish: async () => {
      stopped.abort();
      await running;
      await Promise.all(open);
    },
    // Uses a client of its own, because these requests are not retries.
    resendAnswered: () => resendAnswered(new Perch({ baseUrl: url, apiKey: token }), sent),
  };
}
