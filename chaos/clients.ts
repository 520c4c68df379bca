import { setTimeout as sleep } from "node:timers/promises";

export interface Answer {
  readonly response: string;
  readonly requestId: string;
  /** It was read from the record of the run, for a key that was sent before. */
  readonly isReplayed?: boolean;
}

/** The runs of the second one have a webhook to be delivered to, so they have something to send after their last step. */
export const agentNames = ["chaos", "chaos-with-webhook"] as const;
export type AgentName = (typeof agentNames)[number];

/** One Idempotency-Key and every answer that clients received for it. */
export interface SentRequest {
  readonly key: string;
  readonly agent: AgentName;
  readonly message: string;
  readonly session: { readonly id: string; readonly index: number } | undefined;
  readonly sentAtMs: number;
  readonly answers: Answer[];
  answeredAtMs: number | undefined;
  attempts: number;
  lastRefusal: string;
}

/** The limit of an agent. More concurrent runs of one agent are refused. */
const maxConcurrentRuns = 100;

export interface Clients {
  readonly sent: readonly SentRequest[];
  /** Requests that were refused because no slot was free, while their agent had fewer open requests than slots. */
  readonly refusedForNothing: readonly string[];
  /** How often clients were refused or got no answer, by answer. */
  readonly failures: ReadonlyMap<string, number>;
  /** Sends many runs at once, whose last answers the model gives together. Returns the name by which the model knows them. */
  readonly sendBurst: () => string;
  /** Resolves when every client has its last answer or has given up. */
  readonly finish: () => Promise<void>;
  /** Sends every answered key again, after the last fault. */
  readonly resendAnswered: () => Promise<void>;
}

interface ClientOptions {
  readonly apiUrls: readonly string[];
  readonly token: string;
  readonly count: number;
}

const giveUpAfterMs = 300_000;
const turnsPerSession = 12;

/** Many enough that workers record several in one statement. */
const runsPerBurst = 64;

export function startClients({ apiUrls, token, count }: ClientOptions): Clients {
  const sent: SentRequest[] = [];
  const refusedForNothing: string[] = [];
  const failures = new Map<string, number>();
  const bursts: Promise<unknown>[] = [];
  let finishing = false;

  const post = async (url: string, { key, agent, message, session }: SentRequest): Promise<Answer | string> => {
    const response = await fetch(`${url}/v1/agents/${agent}/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ message, ...(session && { context: { session_id: session.id } }) }),
      signal: AbortSignal.timeout(giveUpAfterMs),
    });
    const body = await response.text();
    if (response.status !== 200) return `${response.status} ${body.slice(0, 300)}`;
    const { data } = JSON.parse(body) as { data: { response: string; request_id: string } };
    const isReplayed = response.headers.get("idempotent-replayed") === "true";
    return { response: data.response, requestId: data.request_id, isReplayed };
  };

  /** A run that is under way is the answer to a request that is open, so these are at least as many. */
  const countOpen = (agent: AgentName): number =>
    sent.filter((item) => item.agent === agent && item.answeredAtMs === undefined).length;

  const noteFailure = ({ key, agent }: SentRequest, refusal: string): void => {
    const reason = refusal.replaceAll(/req_\w+/g, "").slice(0, 110);
    failures.set(reason, (failures.get(reason) ?? 0) + 1);
    if (!refusal.startsWith("429") || !refusal.includes("runs under way")) return;
    const open = countOpen(agent);
    if (open < maxConcurrentRuns) refusedForNothing.push(`${key}: refused with ${open} open requests of ${agent}`);
  };

  /** Retries with the same key, alternating between the nodes, until there is an answer or time is up. */
  const sendUntilAnswered = async (item: SentRequest, offset: number): Promise<void> => {
    for (let attempt = 0; performance.now() - item.sentAtMs < giveUpAfterMs; attempt++) {
      const url = apiUrls[(offset + attempt) % apiUrls.length] ?? "";
      item.attempts += 1;
      const result = await post(url, item).catch((error: unknown) => String(error));
      if (typeof result !== "string") {
        item.answers.push(result);
        item.answeredAtMs ??= performance.now();
        return;
      }
      item.lastRefusal = result;
      noteFailure(item, result);
      if (/^4/.test(result) && !result.startsWith("429")) return;
      await sleep(Math.min(50 * 2 ** attempt, 500) * (0.5 + Math.random()));
    }
  };

  const send = (session: SentRequest["session"], text?: string): Promise<unknown> => {
    const number = sent.length + 1;
    const item: SentRequest = {
      key: `chaos-${process.pid}-${number}`,
      agent: agentNames[number % 3 === 0 && !session ? 1 : 0],
      message: text ?? `message ${number} in ${1 + (number % 3)} steps`,
      session,
      sentAtMs: performance.now(),
      answers: [],
      answeredAtMs: undefined,
      attempts: 0,
      lastRefusal: "",
    };
    sent.push(item);
    const isSentTwice = number % 10 === 0;
    return Promise.all([
      sendUntilAnswered(item, number),
      ...(isSentTwice ? [sendUntilAnswered(item, number + 1)] : []),
    ]);
  };

  const client = async (id: number): Promise<void> => {
    for (let n = 0; !finishing; n++) {
      const session = { id: `session-${id}-${Math.floor(n / turnsPerSession)}`, index: n % turnsPerSession };
      await send(id % 5 === 0 ? session : undefined);
    }
  };

  const sendBurst = (): string => {
    const name = `burst ${bursts.length + 1}`;
    const runs = Array.from({ length: runsPerBurst }, (_, i) => {
      const session = i % 4 === 0 ? { id: `${name} session ${i}`, index: 0 } : undefined;
      return send(session, `${name}, run ${i + 1} of ${runsPerBurst} in ${1 + (i % 2)} steps`);
    });
    bursts.push(Promise.all(runs));
    return name;
  };

  const running = Promise.all(Array.from({ length: count }, (_, id) => client(id)));
  return {
    sent,
    refusedForNothing,
    failures,
    sendBurst,
    finish: async () => {
      finishing = true;
      await running;
      await Promise.all(bursts);
    },
    resendAnswered: async () => {
      const remaining = sent.filter(({ answers }) => answers.length > 0).values();
      const resend = async (id: number) => {
        for (const item of remaining) {
          const result = await post(apiUrls[id % apiUrls.length] ?? "", item).catch(String);
          item.answers.push(typeof result === "string" ? { response: result, requestId: "" } : result);
        }
      };
      await Promise.all(Array.from({ length: 16 }, (_, id) => resend(id)));
    },
  };
}
