import { OutsideError, TransientError } from "../outbound-errors.ts";

export interface ToolCall {
  /** The model's own id for this call; the result is sent back under it. */
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  /** Data that the provider wants back with the call (Gemini signs its thoughts). Nothing here reads it. */
  readonly providerMetadata?: unknown;
}

export type ModelMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly name: string;
      readonly content: string;
      readonly failed?: boolean;
    };

/** A tool as described to the model. `parameters` is JSON Schema of the arguments, an object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  /** Names this call wherever it is counted: the same run and step make the same call. */
  readonly requestId: string;
  readonly step: number;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly temperature: number | null;
  readonly instructions: string;
  /** The rest of the run's tokens. A longer answer is cut off. */
  readonly maxOutputTokens: number;
  readonly signal: AbortSignal;
  /** Called with each piece of text as it comes. All pieces together are the reply's text. */
  readonly onText: (delta: string) => void;
}

/** Longer replies are truncated. */
export const maxReplyLength = 1024 * 1024;

export interface ModelReply {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly tokens: number;
  /** The answer would have needed more than `maxOutputTokens`, and is not complete. */
  readonly isCutOff?: boolean;
}

/** Answers, or throws: a `PermanentModelError` ends the run, a `TransientModelError` or anything else is retried. */
export type Model = (request: ModelRequest) => Promise<ModelReply>;

/** Retrying would not help. The message is for the user who can fix the cause, and contains no secret. */
export class PermanentModelError extends OutsideError {}

/** A retry may succeed: throttled, overloaded, cut off, timed out, unreachable. The message contains no secret. */
export class TransientModelError extends TransientError {}
