import type { IncomingMessage, ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { hashedVector } from "@perch/testkit/servers/models/embeddings.ts";
import { listen, type TestServer } from "@perch/testkit/servers/tool-server.ts";
import { fromBytes, type OutsideText, outsideTexts } from "./outside-texts.ts";

/** The answer of a server. The body has one character for each byte, as `OutsideText` has. */
interface OutsideAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

type AnswerText = (text: OutsideText) => OutsideAnswer;

const json = (body: string, status = 200): OutsideAnswer => ({ status, body, type: "application/json" });
const refused = (body: string, status = 400) => json(body, status);
const farFuture = { "retry-after": "9".repeat(300), "retry-after-ms": "9".repeat(300) };

const frame = (data: string) => `data: ${data}\n\n`;
const chunk = (delta: string, finish = "null", more = "") =>
  frame(
    `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},
    "finish_reason":${finish}}]${more}}`.replaceAll("\n", ""),
  );
const stream = (...chunks: readonly string[]): OutsideAnswer => ({
  type: "text/event-stream",
  body: [...chunks, frame("[DONE]")].join(""),
});
const toolCall = (id: string, name: string, args: string) =>
  stream(
    chunk(
      `{"tool_calls":[{"index":0,"id":${id},"type":"function","function":{"name":${name},"arguments":${JSON.stringify(args)}}}]}`,
    ),
    chunk("{}", '"tool_calls"'),
  );
const reply = (text = '"done"') => stream(chunk(`{"content":${text}}`), chunk("{}", '"stop"'));

/** A model's first answer to a run; the second is plain. */
const modelAnswers: Readonly<Record<string, AnswerText>> = {
  "a refusal": ({ literal }) => refused(`{"error":{"message":${literal},"type":${literal},"code":${literal}}}`),
  "a refusal in plain text": ({ plain }) => refused(plain, 422),
  "a failure": ({ literal }) => refused(`{"error":{"message":${literal}}}`, 500),
  "a long wait": ({ literal }) => ({ ...refused(`{"error":{"message":${literal}}}`, 429), headers: farFuture }),
  tokens: ({ literal }) => reply(literal),
  "tokens in two pieces": ({ literal }) =>
    stream(chunk(`{"content":"a"}`), chunk(`{"content":${literal}}`), chunk("{}", '"stop"')),
  "a finish reason": ({ literal }) => stream(chunk("{}", literal)),
  "a tool's name": ({ literal }) => toolCall('"c1"', literal, "{}"),
  "a call's id": ({ literal }) => toolCall(literal, '"lookup"', "{}"),
  arguments: ({ literal }) => toolCall('"c1"', '"lookup"', `{"q":${literal}}`),
  "arguments that are no object": ({ literal }) => toolCall('"c1"', '"perch_echo"', literal),
  "arguments by key": ({ literal }) => toolCall('"c1"', '"lookup"', `{${literal}:1}`),
  usage: ({ literal }) =>
    stream(chunk('{"content":"a"}', '"stop"', `,"usage":{"prompt_tokens":${literal},"completion_tokens":${literal}}`)),
  "an error in the stream": ({ literal }) =>
    stream(chunk('{"content":"a"}'), frame(`{"error":{"message":${literal}}}`)),
  "a broken stream": ({ plain }) => ({ type: "text/event-stream", body: plain }),
};

const vector = JSON.stringify(hashedVector("memory", 768));
const embeddings = (list: string) => json(`{"object":"list","data":[${list}],"model":"e","usage":{"prompt_tokens":1}}`);

const embedderAnswers: Readonly<Record<string, AnswerText>> = {
  "a refusal": ({ literal }) => refused(`{"error":{"message":${literal},"code":${literal}}}`),
  "a failure": ({ literal }) => refused(`{"error":{"message":${literal}}}`, 500),
  "a long wait": ({ literal }) => ({ ...refused(`{"error":{"message":${literal}}}`, 429), headers: farFuture }),
  "a vector": ({ literal }) => embeddings(`{"index":0,"embedding":${literal}}`),
  "a number of a vector": ({ literal }) => embeddings(`{"index":0,"embedding":${vector.replace("0.01", literal)}}`),
  "another body": ({ literal }) => json(literal),
};

const plainBody =
  (status: number, type: string, headers = {}): AnswerText =>
  ({ plain }) => ({ status, type, headers, body: plain });

const toolAnswers: Readonly<Record<string, AnswerText>> = {
  "a text": plainBody(200, "text/plain"),
  JSON: ({ literal }) => json(`{"value":${literal},"more":[${literal}]}`),
  "a text in another charset": plainBody(200, "text/plain; charset=utf-16le"),
  bytes: plainBody(200, "application/\u00e9\u00ff"),
  "a refusal": plainBody(400, "text/plain"),
  "a failure": plainBody(500, "text/plain"),
  "a long wait": plainBody(429, "text/plain", farFuture),
};

const events = (...list: readonly (readonly [string, string])[]): OutsideAnswer => ({
  type: "text/event-stream",
  body: list.map(([event, data]) => `event: ${event}\ndata: ${data}\n\n`).join(""),
});

const remoteAnswers: Readonly<Record<string, AnswerText>> = {
  "a response": ({ literal }) => json(`{"response":${literal}}`),
  "a count": ({ literal }) => json(`{"response":"done","tokens_used":${literal}}`),
  tokens: ({ literal }) => events(["token", `{"text":${literal}}`], ["done", '{"tokens_used":1}']),
  "a whole text": ({ literal }) => events(["token", '{"text":"a"}'], ["done", `{"response":${literal}}`]),
  "an error event": ({ literal }) => events(["error", `{"message":${literal}}`]),
  "a refusal": ({ literal }) => refused(`{"error":{"message":${literal}}}`),
  "a failure": ({ literal }) => refused(`{"error":${literal}}`, 503),
  "another body": ({ plain }) => json(plain),
};

const receiverAnswers: Readonly<Record<string, AnswerText>> = {
  thanks: plainBody(200, "text/plain"),
  "a refusal": plainBody(400, "text/plain"),
  "a failure": plainBody(500, "text/plain", farFuture),
};

/** Messages are "run 7", and tools are called with that, so the last number in a request is that of its run. */
export const runNumberIn = (body: string): number => Number([...body.matchAll(/\brun (\d+)\b/g)].at(-1)?.[1] ?? 0);

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Pairs a number with a text and an answer: every pair comes as the numbers grow, and both change with each of them. */
export function pairFor(number: number, answers: number): { readonly text: OutsideText; readonly answer: number } {
  const texts = outsideTexts.length;
  const period = (answers * texts) / greatestDivisor(answers, texts);
  const text = outsideTexts[(number + Math.floor(number / period)) % texts];
  if (!text) throw new Error("There is no text");
  return { text, answer: number % answers };
}

function answerFor(answers: Readonly<Record<string, AnswerText>>, number: number): OutsideAnswer {
  const list = Object.values(answers);
  const { text, answer } = pairFor(number, list.length);
  const answerText = list[answer];
  if (!answerText) throw new Error("There is no answer");
  return answerText(text);
}

function send(response: ServerResponse, { status = 200, type = "text/plain", headers = {}, body }: OutsideAnswer) {
  response.writeHead(status, { "content-type": type, ...headers }).end(fromBytes(body));
}

export interface OutsideServer extends TestServer {
  /** How many requests each path had. */
  readonly requests: ReadonlyMap<string, number>;
}

const calledTool = (body: string) => body.includes('"role":"tool"');

/** Every outside server but those of MCP, in one: models and embedder under `/v1`, a tool, a remote agent and a webhook receiver. */
export async function startOutsideServer(): Promise<OutsideServer> {
  const requests = new Map<string, number>();
  const answer = (path: string, body: string): OutsideAnswer => {
    const number = runNumberIn(body);
    if (path === "/v1/embeddings") return answerFor(embedderAnswers, number);
    if (path.startsWith("/tool")) return answerFor(toolAnswers, number);
    if (path === "/agent") return answerFor(remoteAnswers, number);
    if (path === "/hook") return answerFor(receiverAnswers, requests.get(path) ?? 0);
    if (body.includes('"model":"plain"') || calledTool(body)) return reply();
    if (!body.includes('"model":"caller"')) return answerFor(modelAnswers, number);
    const name = body.match(/"name":"(lookup|mcp_[^"]+)"/)?.[1] ?? "lookup";
    return toolCall('"c1"', JSON.stringify(name), JSON.stringify({ q: `run ${number}` }));
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "";
    const body = await readText(request);
    requests.set(path, (requests.get(path) ?? 0) + 1);
    send(response, answer(path, `${body} ${decodeURIComponent(path.replaceAll("+", " "))}`));
  };
  return { ...(await listen(handle)), requests };
}
