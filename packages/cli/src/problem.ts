/** An error for the user, with what to do next. Exit code 1. */
export class Problem extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The command line is invalid. Exit code 2. */
export class UsageError extends Error {}
