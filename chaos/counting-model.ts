import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

export interface ModelCall {
  readonly requestId: string;
  readonly step: number;
  readonly atMs: number;
  /** When the caller closed the connection, if that was before the whole answer was sent. */
  cutOffAtMs?: number;
}

/** The progress of the last answers of one burst. */
export interface SentAnswers {
  readonly firstBytes: number;
  readonly lastBytes: number;
}

export interface CountingModel {
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** Calls that have not been answered yet. */
  readonly callsInFlight: () => number;
  readonly sentTo: (burst: string) => SentAnswers;
  readonly close: () => void;
}

interface ScriptRequest {
  readonly request_id: string;
  readonly step: number;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

interface Burst {
  calls: number;
  firstBytes: number;
  lastBytes: number;
  readonly complete: PromiseWithResolvers<void>;
}

/** The message contains the number of steps of its run: "… in 3 steps". */
const stepsOf = (message: string) => Number(/ in (\d) steps$/.exec(message)?.[1] ?? 2);
/** And whether each of its steps takes long: "… slowly in 4 steps". */
const delayMsOf = (message: string) => (/ slowly in /.test(message) ? 1500 : 30 + Math.random() * 220);
/** The burst of a message, if the message is part of one: "burst 2, run 7 of 64 in 1 steps". */
const burstOf = (message: string) => /^(burst \d+), run \d+ of (\d+) /.exec(message) ?? [];

/** Some of its runs may have been refused, or wait for another part. */
const maxBurstWaitMs = 20_000;

const untilBurstIsComplete = (complete: Promise<void>) =>
  Promise.race([complete, sleep(maxBurstWaitMs, undefined, { ref: false })]);

/**
 * A model server outside the workers that counts its calls. No two replies are equal, so that an answer made from
 * another call than the recorded one is detected as different. The last answers of a burst begin within a tenth of a second, when
 * all of its runs wait for theirs, so that runs end in batches, and each answer comes in two parts.
 */
export async function startCountingModel(): Promise<CountingModel> {
  const calls: ModelCall[] = [];
  const bursts = new Map<string, Burst>();
  let callsInFlight = 0;

  const findBurst = (name: string): Burst => {
    const burst = bursts.get(name) ?? { calls: 0, firstBytes: 0, lastBytes: 0, complete: Promise.withResolvers() };
    bursts.set(name, burst);
    return burst;
  };

  /** Notes the call and returns its number. */
  const note = ({ request_id: requestId, step }: ScriptRequest, response: ServerResponse): number => {
    const call: ModelCall = { requestId, step, atMs: performance.now() };
    response.on("close", () => {
      if (!response.writableFinished) call.cutOffAtMs = performance.now();
    });
    return calls.push(call);
  };

  const reply = ({ step, messages }: ScriptRequest, message: string, call: number) => {
    if (step < stepsOf(message)) return { tool_calls: [{ name: "perch_echo", arguments: { step, call } }], tokens: 1 };
    const earlier = messages.filter(({ role }) => role === "user").length - 1;
    const echoed = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    return { reply: `${message} | after ${earlier} | ${echoed.join(" ")} | call ${call}`, tokens: 1 };
  };

  const sendInBurst = async (burst: Burst, size: number, body: string, response: ServerResponse): Promise<void> => {
    burst.calls += 1;
    if (burst.calls === size) burst.complete.resolve();
    await untilBurstIsComplete(burst.complete.promise);
    await sleep(Math.random() * 100);
    response.write(body.slice(0, 1));
    burst.firstBytes += 1;
    await sleep(Math.random() * 40);
    response.end(body.slice(1));
    burst.lastBytes += 1;
  };

  const answer = async (request: ScriptRequest, response: ServerResponse): Promise<void> => {
    const message = request.messages.findLast(({ role }) => role === "user")?.content ?? "";
    const body = JSON.stringify(reply(request, message, note(request, response)));
    response.writeHead(200, { "content-type": "application/json" });
    const [, name, size] = burstOf(message);
    if (name && request.step === stepsOf(message)) return sendInBurst(findBurst(name), Number(size), body, response);
    await sleep(name ? 0 : delayMsOf(message));
    response.end(body);
  };

  const server = createServer((request, response) => {
    callsInFlight += 1;
    response.on("close", () => {
      callsInFlight -= 1;
    });
    json(request)
      .then((body) => answer(body as ScriptRequest, response))
      .catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    calls,
    callsInFlight: () => callsInFlight,
    sentTo: findBurst,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
