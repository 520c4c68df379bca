import {
  type CompletionAnswer,
  type Frame,
  type ProviderCall,
  rawArguments,
  splitInHalf,
  splitWords,
} from "./model-server.ts";

type Event = { readonly type: string; readonly [field: string]: unknown };

export const responsesError: Frame = {
  event: "error",
  data: { type: "error", code: "server_error", message: "The server had an error.", param: null, sequence_number: 99 },
};

function messageEvents(call: ProviderCall, text: string): { readonly events: Event[]; readonly item: object } {
  const at = { item_id: `msg_${call.number}`, output_index: 0, content_index: 0 };
  const part = (content: string) => ({ type: "output_text", annotations: [], logprobs: [], text: content });
  const item = (status: string, content: object[]) => ({
    id: at.item_id,
    type: "message",
    status,
    content,
    role: "assistant",
  });
  const done = item("completed", [part(text)]);
  const events = [
    { type: "response.output_item.added", output_index: 0, item: item("in_progress", []) },
    { type: "response.content_part.added", ...at, part: part("") },
    ...splitWords(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: part(text) },
    { type: "response.output_item.done", output_index: 0, item: done },
  ];
  return { events, item: done };
}

function callEvents(call: ProviderCall, { toolCalls = [], text }: CompletionAnswer) {
  return toolCalls.map((toolCall, index) => {
    const output_index = index + (text ? 1 : 0);
    const item_id = `fc_${call.number}_${index}`;
    const input = rawArguments(toolCall);
    const call_id = toolCall.id ?? `call_${call.number}_${index}`;
    const item = { id: item_id, type: "function_call", call_id, name: toolCall.name };
    const done = { ...item, status: "completed", arguments: input };
    const type = "response.function_call_arguments";
    const events: Event[] = [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", arguments: "" } },
      ...splitInHalf(input).map((delta) => ({ type: `${type}.delta`, item_id, output_index, delta })),
      { type: `${type}.done`, item_id, output_index, arguments: input },
      { type: "response.output_item.done", output_index, item: done },
    ];
    return { events, item: done };
  });
}

function usageOf({ usage }: CompletionAnswer) {
  if (usage === null) return null;
  const { input, output } = usage ?? { input: 20, output: 10 };
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

/** The events of a streamed response. There is no `[DONE]`: `response.completed` or `response.incomplete` is the last. */
export function responsesFrames(call: ProviderCall, answer: CompletionAnswer): Frame[] {
  const { finish = "stop", text } = answer;
  const outputs = [...(text ? [messageEvents(call, text)] : []), ...callEvents(call, answer)];
  const response = (status: string, rest: object = {}) => ({
    id: `resp_${call.number}`,
    object: "response",
    created_at: 1_767_000_000,
    status,
    error: null,
    incomplete_details: null,
    model: call.body.model,
    output: [],
    store: call.body.store ?? true,
    usage: null,
    ...rest,
  });
  const reason = finish === "length" ? "max_output_tokens" : "content_filter";
  const status = finish === "stop" ? "completed" : "incomplete";
  const last = response(status, {
    output: outputs.map(({ item }) => item),
    usage: usageOf(answer),
    incomplete_details: finish === "stop" ? null : { reason },
  });
  const events: Event[] = [
    { type: "response.created", response: response("in_progress") },
    { type: "response.in_progress", response: response("in_progress") },
    ...outputs.flatMap((one) => one.events),
    { type: `response.${status}`, response: last },
  ];
  return events.map((event, sequence_number) => ({
    event: event.type,
    data: { ...event, sequence_number },
    text: event.type === "response.output_text.delta",
  }));
}
