/** The parent of the next span. Plain strings, so that it can be sent with a run. */
export interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
}

/** The header that tells a receiver the trace (W3C Trace Context); none for what is not traced. */
export const traceHeaders = (trace: TraceParent | undefined): { readonly traceparent?: string } =>
  trace ? { traceparent: `00-${trace.traceId}-${trace.parentId}-01` } : {};
