/** An error for the user, with the next step. Exit code 1. */
export class Problem extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The command line is invalid. Exit code 2. */
export class UsageError extends Error {}

/** The run that an error is about. Its id is unknown if the server has not accepted it, or the answer was lost. */
export interface NamedRun {
  readonly agent: string;
  readonly runId: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** A run failed, or the command lost sight of it. */
export class RunProblem extends Error {
  readonly run: NamedRun;

  constructor(run: NamedRun, cause: unknown) {
    super("The run did not answer.", { cause });
    this.run = run;
  }
}

/** Ctrl-c while a run was under way. The run goes on. */
export class Interrupted extends Error {
  readonly run: NamedRun;
  readonly exitCode: 130 | 143;

  constructor(run: NamedRun, exitCode: 130 | 143) {
    super("Interrupted.");
    this.run = run;
    this.exitCode = exitCode;
  }
}
