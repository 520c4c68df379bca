/** Why a call failed, in a word or two: `fetch` hides it in the cause of its error. */
export function reasonOfFailedCall(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no answer in time";
  const cause = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause;
  const { code, message } = (cause ?? error) as Error & { readonly code?: unknown };
  return typeof code === "string" ? code : message;
}
