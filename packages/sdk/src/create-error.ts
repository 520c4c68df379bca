import {
  ActionRequiredError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  PayloadTooLargeError,
  PerchError,
  PreconditionFailedError,
  RateLimitedError,
  RunCancelledError,
  RunFailedError,
  ServerError,
  StillRunningError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
} from "./errors.ts";
import { type Failure, runIdOf } from "./failure.ts";

const errorClasses: Readonly<Record<string, new (failure: Failure) => PerchError>> = {
  invalid_request: InvalidRequestError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  conflict: ConflictError,
  precondition_failed: PreconditionFailedError,
  payload_too_large: PayloadTooLargeError,
  rate_limited: RateLimitedError,
  server_error: ServerError,
  unavailable: UnavailableError,
  run_failed: RunFailedError,
  still_running: StillRunningError,
  action_required: ActionRequiredError,
  connection_failed: ConnectionError,
  timed_out: TimeoutError,
};

/** Creates an error of the class for its code. */
export function createError(failure: Failure): PerchError {
  const isAboutRun = runIdOf(failure) !== undefined;
  if (isAboutRun && failure.code === "server_error") return new RunFailedError(failure);
  if (isAboutRun && failure.code === "conflict") return new RunCancelledError(failure);
  // The server chooses the code, which may be the name of something that every object has.
  const known = Object.hasOwn(errorClasses, failure.code) ? errorClasses[failure.code] : undefined;
  return new (known ?? PerchError)(failure);
}
