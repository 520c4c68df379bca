import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

export interface ModelCall {
  readonly requestId: string;
  readonly step: number;
  readonly atMs: number;
}

export interface CountingModel {
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** Calls that have not been answered yet. */
  readonly callsInFlight: () => number;
  readonly close: () => void;
}

interface ScriptRequest {
  readonly request_id: string;
  readonly step: number;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** The message contains the number of steps of its run: "… in 3 steps". */
const stepsOf = (message: string) => Number(/ in (\d) steps$/.exec(message)?.[1] ?? 2);

/**
 * A model server outside the workers that counts its calls. No two replies are equal, so that an answer made from
 * another call than the recorded one is detected as different.
 */
export async function startCountingModel(): Promise<CountingModel> {
  const calls: ModelCall[] = [];
  let callsInFlight = 0;

  const reply = ({ request_id: requestId, step, messages }: ScriptRequest) => {
    const call = calls.push({ requestId, step, atMs: performance.now() });
    const message = messages.findLast(({ role }) => role === "user")?.content ?? "";
    if (step < stepsOf(message)) return { tool_calls: [{ name: "perch_echo", arguments: { step, call } }], tokens: 1 };
    const earlier = messages.filter(({ role }) => role === "user").length - 1;
    const echoed = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    return { reply: `${message} | after ${earlier} | ${echoed.join(" ")} | call ${call}`, tokens: 1 };
  };

  const answer = async (request: IncomingMessage): Promise<string> => {
    const body = JSON.stringify(reply(JSON.parse(await text(request)) as ScriptRequest));
    await sleep(30 + Math.random() * 220);
    return body;
  };

  const server = createServer((request, response) => {
    callsInFlight += 1;
    response.on("close", () => {
      callsInFlight -= 1;
    });
    answer(request).then(
      (body) => response.writeHead(200, { "content-type": "application/json" }).end(body),
      () => response.destroy(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    calls,
    callsInFlight: () => callsInFlight,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
