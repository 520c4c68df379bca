/** What went wrong in words for a person, and what to do next. Exit code 1. */
export class Problem extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The command was written wrongly. Exit code 2. */
export class UsageError extends Error {}
