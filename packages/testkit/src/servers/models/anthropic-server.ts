import {
  type AnswerCall,
  type CompletionAnswer,
  type Frame,
  type ModelServer,
  type ProviderCall,
  type ProviderProtocol,
  rawArguments,
  splitInHalf,
  splitWords,
  startModelServer,
} from "./model-server.ts";

type Event = { readonly type: string; readonly [field: string]: unknown };

const block = (index: number, content_block: object, deltas: readonly object[]): Event[] => [
  { type: "content_block_start", index, content_block },
  // Pings come anywhere; the real API sends one after the first block has begun.
  ...(index === 0 ? [{ type: "ping" }] : []),
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

function blocksOf(call: ProviderCall, { text, toolCalls = [] }: CompletionAnswer): Event[] {
  const texts = splitWords(text ?? "").map((piece) => ({ type: "text_delta", text: piece }));
  const first = text ? 1 : 0;
  return [
    ...(text ? block(0, { type: "text", text: "" }, texts) : []),
    ...toolCalls.flatMap((toolCall, index) => {
      const id = toolCall.id ?? `toolu_${call.number}_${index}`;
      const deltas = ["", ...splitInHalf(rawArguments(toolCall))];
      return block(
        first + index,
        { type: "tool_use", id, name: toolCall.name, input: {} },
        deltas.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      );
    }),
  ];
}

function stopReason({ finish, toolCalls = [] }: CompletionAnswer): string {
  if (finish === "content-filter") return "refusal";
  if (finish === "length") return "max_tokens";
  return toolCalls.length > 0 ? "tool_use" : "end_turn";
}

function frames(call: ProviderCall, answer: CompletionAnswer): Frame[] | null {
  if (call.path !== "/v1/messages") return null;
  const { input, output } = answer.usage ?? { input: 20, output: 10 };
  const cache = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = {
    id: `msg_${call.number}`,
    type: "message",
    role: "assistant",
    model: call.body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: input, ...cache, output_tokens: 1, service_tier: "standard" },
  };
  const events: Event[] = [
    { type: "message_start", message },
    ...blocksOf(call, answer),
    {
      type: "message_delta",
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => ({
    event: event.type,
    data: event,
    text: (event.delta as { type?: string } | undefined)?.type === "text_delta",
  }));
}

const failure = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_test",
});

const protocol: ProviderProtocol = {
  basePath: "/v1",
  keyOf: ({ "x-api-key": key }) => (typeof key === "string" ? key : undefined),
  wrongKey: { status: 401, body: failure("authentication_error", "invalid x-api-key") },
  frames,
  errorFrame: () => ({ event: "error", data: failure("overloaded_error", "Overloaded") }),
};

/** Anthropic's API: `POST /v1/messages`, streamed. It always counts tokens. */
export const startAnthropicServer = (answer: AnswerCall): Promise<ModelServer> => startModelServer(protocol, answer);
