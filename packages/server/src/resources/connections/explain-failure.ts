import { OAuthFailure } from "../../outbound/oauth/oauth-failure.ts";
import { isRefusedCall } from "../../outbound/secrets/resolve-call.ts";
import { ApiError, conflict } from "../../platform/api-error.ts";

const retryAfterSeconds = 5;

/** The failure of a call to a provider, as the caller sees it, with the next step; any other error as it is. */
export function explainFailure(error: unknown, next: { readonly retry?: string; readonly otherwise: string }): unknown {
  if (isRefusedCall(error)) return conflict(`${error.message} ${next.otherwise}`);
  if (!(error instanceof OAuthFailure)) return error;
  if (error.kind === "unavailable")
    return new ApiError("unavailable", `${error.message} ${next.retry ?? "Try again shortly."}`, {
      retryAfterSeconds,
      isOutside: true,
      cause: error,
    });
  return new ApiError("conflict", `${error.message} ${next.otherwise}`, { cause: error });
}
