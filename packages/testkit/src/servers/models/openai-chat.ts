import {
  type CompletionAnswer,
  type Frame,
  type ProviderCall,
  rawArguments,
  splitInHalf,
  splitWords,
} from "./model-server.ts";

export const chatDone: Frame = { data: "[DONE]" };

const callId = (call: ProviderCall, index: number, id?: string) => id ?? `call_${call.number}_${index}`;

function finishReason({ finish, toolCalls = [] }: CompletionAnswer): string {
  if (finish === "content-filter") return "content_filter";
  return finish === "length" || toolCalls.length === 0 ? (finish ?? "stop") : "tool_calls";
}

function usageOf({ usage }: CompletionAnswer) {
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

function toolDeltas(call: ProviderCall, { toolCalls = [] }: CompletionAnswer): object[] {
  return toolCalls.flatMap((toolCall, index) => [
    {
      index,
      id: callId(call, index, toolCall.id),
      type: "function",
      function: { name: toolCall.name, arguments: "" },
      ...extra(toolCall.thoughtSignature),
    },
    ...splitInHalf(rawArguments(toolCall)).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
}

/** The chunks of a streamed chat completion, without the closing `[DONE]`. */
export function chatFrames(call: ProviderCall, answer: CompletionAnswer): Frame[] {
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
    ...splitWords(answer.text ?? "").map((content) => ({ data: delta({ content }), text: true })),
    ...toolDeltas(call, answer).map((one) => ({ data: delta({ tool_calls: [one] }) })),
    { data: delta({}, finishReason(answer)) },
    ...(usage ? [{ data: chunk([], usage) }] : []),
  ];
}

/** The same answer to a request that asks for no stream. */
export const chatCompletion = (call: ProviderCall, answer: CompletionAnswer): object => ({
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
              tool_calls: answer.toolCalls.map((toolCall, index) => ({
                id: callId(call, index, toolCall.id),
                type: "function",
                function: { name: toolCall.name, arguments: rawArguments(toolCall) },
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
