import type { ApiError } from "./api-error.ts";

/** Returned by the work of a change: what the work has written is committed, and the request is refused all the same. */
export class RefusedChange {
  readonly error: ApiError;

  constructor(error: ApiError) {
    this.error = error;
  }
}
