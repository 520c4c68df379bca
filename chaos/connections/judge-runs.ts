/** The properties of a run that show whose account it used. */
interface JudgedRun {
  readonly note: string;
  readonly person: { readonly userId: string; readonly login: string };
  readonly status: number;
  readonly answer: string;
}

interface JudgedCall {
  /** At the provider. */
  readonly user: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Judged {
  /** Calls with the account of another user, and answers from one. */
  readonly mixedUp: readonly string[];
  /** Runs whose answer did not come from their own account, or that did not call the tool exactly once. */
  readonly failed: readonly string[];
}

/** Compares the calls that the MCP server saw with the user of each run. Every run should have called its tool once. */
export function judgeRuns(runs: readonly JudgedRun[], calls: readonly JudgedCall[]): Judged {
  const callsOf = Map.groupBy(calls, ({ arguments: args }) => String(args.note));
  const others = new Set(runs.map(({ person }) => person.login));
  const mixedUp: string[] = [];
  const failed: string[] = [];
  for (const { note, person, status, answer } of runs) {
    const own = callsOf.get(note) ?? [];
    for (const { user } of own) if (user !== person.login) mixedUp.push(`${note}: called with the account of ${user}`);
    const isOfOther = answer !== person.login && others.has(answer);
    if (isOfOther) mixedUp.push(`${note}: answered from the account of ${answer}`);
    else if (status !== 200 || answer !== person.login) failed.push(`${note}: ${status} ${answer.slice(0, 200)}`);
    else if (own.length !== 1) failed.push(`${note}: called its tool ${own.length} times`);
  }
  return { mixedUp, failed };
}
