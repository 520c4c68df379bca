/** The parent of the next span. Plain strings, so that it can be sent with a run. */
export interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
}
