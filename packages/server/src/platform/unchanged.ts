/** Returned by the work of a change that changed nothing: it is answered and can be repeated, and leaves no other trace. */
export class Unchanged<T> {
  readonly answer: T;

  constructor(answer: T) {
    this.answer = answer;
  }
}
