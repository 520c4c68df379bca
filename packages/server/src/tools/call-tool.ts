import type { RunTool } from "./tool-set.ts";

export interface ToolDeps {
  /** Refuses private addresses and follows no redirect: tools' addresses are written by tenants. */
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
}

/** What the model is given back. A failed result is still an answer: the model may correct itself. */
export interface ToolResult {
  readonly content: string;
  readonly failed: boolean;
}

export interface ToolCallContext {
  /** The same for every attempt at this call, so that a tool can tell a repetition. */
  readonly idempotencyKey: string;
  /** The run's public id. */
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/**
 * Throws a `PassingToolError` when the call may be tried again, or the signal's reason when the caller gave up.
 *
 * Arguments are not validated against the tool's JSON Schema: a `pattern` written by a tenant could hold our event
 * loop for ever. The tool's own 4xx is the answer, and the model reads it.
 */
export type CallTool = (tool: RunTool, args: unknown, call: ToolCallContext) => Promise<ToolResult>;

/** Throttled, 5xx, network, timeout: it may go better later. The message is for users, and holds no address. */
export class PassingToolError extends Error {
  /** How long the other side asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A server whose tools cannot be had: trying again would not help. Only listing throws it. */
export class PermanentToolError extends Error {}
