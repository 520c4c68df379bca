import type { MeasuredCommand } from "../builders-way/measured-command.ts";
import type { Trial } from "./trial.ts";

export interface Task {
  readonly number: number;
  readonly title: string;
  /** The tasks whose results this one uses. They run too when only this one is asked for. */
  readonly needs: readonly number[];
  /** Throws what went wrong. What it returns stands beside the result. */
  readonly run: (trial: Trial) => Promise<string>;
}

export type Outcome = "worked" | "failed" | "skipped";

export interface TaskReport {
  readonly number: number;
  readonly title: string;
  readonly outcome: Outcome;
  readonly note: string;
  readonly seconds: number;
  readonly commands: readonly Pick<MeasuredCommand, "command" | "seconds" | "silentSeconds">[];
}

/** The tasks that were asked for and those that they need, in order. No number means all. */
export function selectTasks(tasks: readonly Task[], numbers: readonly number[]): Task[] {
  if (numbers.length === 0) return [...tasks];
  const chosen = new Set<number>();
  const choose = (number: number) => {
    const task = tasks.find((each) => each.number === number);
    if (!task) throw new Error(`There is no task ${number}.`);
    if (chosen.has(number)) return;
    chosen.add(number);
    for (const needed of task.needs) choose(needed);
  };
  for (const number of numbers) choose(number);
  return tasks.filter(({ number }) => chosen.has(number));
}

/** What keeps a task from being tried: the first of those it needs that did not work. */
export function blockedBy({ needs }: Task, reports: readonly TaskReport[]): number | undefined {
  return needs.find((number) => reports.some((report) => report.number === number && report.outcome !== "worked"));
}

export async function runTask(task: Task, trial: Trial): Promise<TaskReport> {
  const { number, title } = task;
  const startedAt = performance.now();
  trial.commands = [];
  const report = (outcome: Outcome, note: string): TaskReport => ({
    number,
    title,
    outcome,
    note,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    commands: trial.commands.map(({ command, seconds, silentSeconds }) => ({ command, seconds, silentSeconds })),
  });
  try {
    return report("worked", await task.run(trial));
  } catch (error) {
    return report("failed", error instanceof Error ? error.message : String(error));
  }
}
