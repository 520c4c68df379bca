import type { ApiError } from "./api-error.ts";

/**
 * Returned by the work of a change to data that no node caches: it is audited like any other, and the organisation's
 * caches stay valid.
 */
export class Uncached<T> {
  readonly result: T;

  constructor(result: T) {
    this.result = result;
  }
}

/** Returned by the work of a change that changed nothing: it is answered and can be repeated, and leaves no other trace. */
export class Unchanged<T> {
  readonly answer: T;

  constructor(answer: T) {
    this.answer = answer;
  }
}

/** Returned by the work of a change: its writes are committed, and the request is refused all the same. */
export class RefusedChange {
  readonly error: ApiError;

  constructor(error: ApiError) {
    this.error = error;
  }
}
