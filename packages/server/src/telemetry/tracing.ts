/** A finished span. Its ids were chosen by the caller. */
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
  /** Names, ids and numbers: never conversation text or secrets. Undefined values are left out. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
}

/** The destination of spans. */
export interface Tracing {
  /** Checked before building spans, so that disabled tracing costs nothing. */
  readonly isOn: boolean;
  /** Never waits and never throws: a span that cannot be sent is lost. */
  readonly add: (span: EndedSpan) => void;
  /** Sends the remaining spans, within a time limit. */
  readonly close: () => Promise<void>;
}

export const noTracing: Tracing = { isOn: false, add: () => undefined, close: async () => undefined };
