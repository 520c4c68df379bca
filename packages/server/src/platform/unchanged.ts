/** Returned by the work of a change to what no node caches: it is audited like any other, and the organisation's caches stay valid. */
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
