/** The span that what comes next belongs under. Plain text, so that it can travel with a run. */
export interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
}

/** A piece of work that has ended. Its ids were decided by whoever did it. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null: the first of its trace. */
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: "server" | "client" | "internal";
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  /** Names, ids and numbers: never what was said, and no secret. What is undefined is left out. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
}

/** Where spans go. */
export interface Tracing {
  /** Whether anybody wants them: who makes spans asks first, so that making none costs nothing. */
  readonly isOn: boolean;
  /** Never waits and never throws: a span that cannot be sent is lost. */
  readonly add: (span: EndedSpan) => void;
  /** Sends what is left, within a time limit. */
  readonly close: () => Promise<void>;
}

export const noTracing: Tracing = { isOn: false, add: () => undefined, close: async () => undefined };
