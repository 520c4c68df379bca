export interface ModelMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
}

export interface ModelRequest {
  /** Names this call wherever it is counted: the same run and step make the same call. */
  readonly requestId: string;
  readonly step: number;
  readonly messages: readonly ModelMessage[];
  readonly temperature: number | null;
  readonly instructions: string;
  readonly signal: AbortSignal;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: unknown;
}

export interface ModelReply {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly tokens: number;
}

/** Answers, or throws: a `PermanentModelError` ends the run, anything else is tried again. */
export type Model = (request: ModelRequest) => Promise<ModelReply>;

/** Trying again would not help. The message is for the user who can mend it. */
export class PermanentModelError extends Error {}
