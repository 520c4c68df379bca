import type { Tier } from "@perch/contract";

export interface TokenEvent {
  readonly type: "token";
  readonly step: number;
  readonly offset: number;
  readonly text: string;
}

interface AttemptEvent {
  /** The model call that it is, or that asked for it. 0: before the first. */
  readonly step: number;
  readonly name: string;
  readonly attempt: number;
  readonly status: "started" | "completed" | "failed" | "retried" | "interrupted";
  readonly reason?: string;
  readonly retry_after_ms?: number;
}

export interface StepEvent extends AttemptEvent {
  readonly type: "step";
  readonly kind: "model" | "tools" | "memory";
  readonly tokens?: number;
}

export interface ToolEvent extends AttemptEvent {
  readonly type: "tool";
  readonly call: number;
  readonly arguments?: unknown;
  readonly output?: unknown;
}

/**
 * An event of a running run. Text belongs to a step and has an offset in it: a reader keeps `text.slice(0, offset) + event.text`,
 * so a retried step with a different text replaces the earlier one.
 */
export type RunEvent =
  | TokenEvent
  | StepEvent
  | ToolEvent
  /** Events are missing from here on: the organisation's streams hold as much as they may. Once in a run. */
  | { readonly type: "dropped"; readonly maxBytes: number }
  /** The run has ended, or waits for a person and goes on after this, and its record can be read. */
  | { readonly type: "end" };

export interface StoredEvent {
  /** Grows within a run. Reading can go on after it, on any node. */
  readonly id: string;
  readonly event: RunEvent;
}

/** The text of one attempt of one step. Never throws and never waits: a stream that is lost costs the tokens, not the run. */
export interface TextWriter {
  readonly write: (delta: string) => void;
  /** Resolves when the stream holds all that was written, and nothing of an earlier attempt after it. */
  readonly finish: () => Promise<void>;
}

/** The owner of a stream. The streams of one owner are limited together. */
export interface StreamOwner {
  readonly organisationId: string;
  readonly tier?: Tier;
}

export interface RunStreams {
  /** Begins an attempt of a step. An earlier attempt of it that is still alive somewhere writes no more. */
  readonly writeText: (runId: string, step: number, owner?: StreamOwner) => TextWriter;
  /** Never rejects. Events that are appended one after the other, without waiting, are kept in that order. */
  readonly append: (runId: string, event: RunEvent, owner?: StreamOwner) => Promise<void>;
  /**
   * Pages of events after this one, or from the first. An empty page means that nothing is there or nothing came for a while:
   * whether the run has ended must then be looked up elsewhere. Ends when the signal is aborted.
   */
  readonly read: (
    runId: string,
    after: string | undefined,
    signal: AbortSignal,
  ) => AsyncGenerator<readonly StoredEvent[], void, void>;
  /** Deletes the stored events of these runs. Returns how many of them had any. */
  readonly delete: (runIds: readonly string[]) => Promise<number>;
  readonly close: () => Promise<void>;
}
