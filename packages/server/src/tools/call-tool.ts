import type { RunTool } from "./tool-set.ts";

export interface ToolDeps {
  /** Refuses private addresses and follows no redirect: tools' addresses are written by tenants. */
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
}

/** What the model gets back. A failed result goes to the model too, which may correct itself. */
export interface ToolResult {
  readonly content: string;
  readonly failed: boolean;
}

export interface ToolCallContext {
  /** The same for every attempt at this call, so that a tool can recognise a retry. */
  readonly idempotencyKey: string;
  /** The run's public id. */
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/**
 * Throws a `TransientToolError` when the call may be retried, or the signal's reason when the caller cancelled.
 *
 * Arguments are not validated against the tool's JSON Schema: a `pattern` written by a tenant could block our event
 * loop. The tool's own 4xx is returned to the model instead.
 */
export type CallTool = (tool: RunTool, args: unknown, call: ToolCallContext) => Promise<ToolResult>;

/** Throttled, 5xx, network, timeout: a retry may succeed. The message is for users, and contains no address. */
export class TransientToolError extends Error {
  /** How long the tool asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The tools of a server cannot be listed or called, and retrying would not help. */
export class PermanentToolError extends Error {}
