/** The parent of the next span. Plain strings, so that it can be sent with a run. */
export interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
}

/** The header that passes the trace to a receiver (W3C Trace Context); none without a trace. */
export const traceHeaders = (trace: TraceParent | undefined): { readonly traceparent?: string } =>
  trace ? { traceparent: `00-${trace.traceId}-${trace.parentId}-01` } : {};
