import { type Frame, halvesOf, type ProviderCall, piecesOf, rawArguments, type SpokenAnswer } from "./model-server.ts";

export const chatDone: Frame = { data: "[DONE]" };

const callId = (call: ProviderCall, index: number, id?: string) => id ?? `call_${call.number}_${index}`;

function finishReason({ finish, toolCalls = [] }: SpokenAnswer): string {
  if (finish === "content-filter") return "content_filter";
  return finish === "length" || toolCalls.length === 0 ? (finish ?? "stop") : "tool_calls";
}

function usageOf({ usage }: SpokenAnswer) {
  if (usage === null) return null;
  const { input, output } = usage ?? { input: 20, output: 10 };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

const extra = (signature: string | undefined) =>
  signature ? { extra_content: { google: { thought_signature: signature } } } : {};

function toolDeltas(call: ProviderCall, { toolCalls = [] }: SpokenAnswer): object[] {
  return toolCalls.flatMap((said, index) => [
    {
      index,
      id: callId(call, index, said.id),
      type: "function",
      function: { name: said.name, arguments: "" },
      ...extra(said.thoughtSignature),
    },
    ...halvesOf(rawArguments(said)).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
}

/** The chunks of a streamed chat completion, without the closing `[DONE]`. */
export function chatFrames(call: ProviderCall, answer: SpokenAnswer): Frame[] {
  const wantsUsage = (call.body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
  const chunk = (choices: object[], usage: object | null = null) => ({
    id: `chatcmpl-${call.number}`,
    object: "chat.completion.chunk",
    created: 1_767_000_000,
    model: call.body.model,
    service_tier: "default",
    system_fingerprint: "fp_test",
    choices,
    ...(wantsUsage ? { usage } : {}),
  });
  const delta = (content: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: content, logprobs: null, finish_reason: finish }]);
  const usage = wantsUsage ? usageOf(answer) : null;
  return [
    { data: delta({ role: "assistant", content: "", refusal: null }) },
    ...piecesOf(answer.text ?? "").map((content) => ({ data: delta({ content }), text: true })),
    ...toolDeltas(call, answer).map((one) => ({ data: delta({ tool_calls: [one] }) })),
    { data: delta({}, finishReason(answer)) },
    ...(usage ? [{ data: chunk([], usage) }] : []),
  ];
}

/** The same answer to a request that asks for no stream. */
export const chatWhole = (call: ProviderCall, answer: SpokenAnswer): object => ({
  id: `chatcmpl-${call.number}`,
  object: "chat.completion",
  created: 1_767_000_000,
  model: call.body.model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: answer.text || null,
        refusal: null,
        ...(answer.toolCalls?.length
          ? {
              tool_calls: answer.toolCalls.map((said, index) => ({
                id: callId(call, index, said.id),
                type: "function",
                function: { name: said.name, arguments: rawArguments(said) },
              })),
            }
          : {}),
      },
      logprobs: null,
      finish_reason: finishReason(answer),
    },
  ],
  usage: usageOf(answer),
});
