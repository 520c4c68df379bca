import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelMessage, ToolCall, ToolDefinition } from "./model.ts";

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

/** Providers and their chat templates want an object here, even if the model wrote something else. */
const objectOf = (input: unknown): object =>
  typeof input === "object" && input !== null && !Array.isArray(input) ? input : { unreadable: input };

const toCallPart = (call: ToolCall): LanguageModelV4ToolCallPart => ({
  type: "tool-call",
  toolCallId: call.id,
  toolName: call.name,
  input: objectOf(call.arguments),
  ...(call.providerMetadata ? { providerOptions: call.providerMetadata as SharedV4ProviderOptions } : {}),
});

const toResultPart = ({ callId, name, content, failed }: ToolMessage): LanguageModelV4ToolResultPart => ({
  type: "tool-result",
  toolCallId: callId,
  toolName: name,
  output: { type: failed ? "error-text" : "text", value: content },
});

function append(prompt: LanguageModelV4Prompt, message: ModelMessage): void {
  if (message.role === "tool") {
    const last = prompt.at(-1);
    if (last?.role === "tool") last.content.push(toResultPart(message));
    else prompt.push({ role: "tool", content: [toResultPart(message)] });
  }
  if (message.role === "user") prompt.push({ role: "user", content: [{ type: "text", text: message.content }] });
  if (message.role === "assistant") {
    const text = message.content ? [{ type: "text" as const, text: message.content }] : [];
    const content = [...text, ...(message.toolCalls ?? []).map(toCallPart)];
    // Anthropic and Google answer 400 to an empty assistant message.
    if (content.length > 0) prompt.push({ role: "assistant", content });
  }
}

/** The messages as the providers want them: one system message first (Google takes no other), tool results grouped. */
export function toPrompt(messages: readonly ModelMessage[]): LanguageModelV4Prompt {
  const system = messages.filter((message) => message.role === "system").map(({ content }) => content);
  const prompt: LanguageModelV4Message[] = system.length > 0 ? [{ role: "system", content: system.join("\n\n") }] : [];
  for (const message of messages) append(prompt, message);
  return prompt;
}

export const toFunctionTool = ({ name, description, parameters }: ToolDefinition): LanguageModelV4FunctionTool => ({
  type: "function",
  name,
  description,
  inputSchema: parameters,
});
