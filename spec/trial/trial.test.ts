import { expect, test } from "vitest";
import { nextVersion, raiseManifest } from "./higher-version.ts";
import { readDiskUse } from "./installed-size.ts";
import { listSlow } from "./limits.ts";
import { sizeTable, summarise, trialTable } from "./table.ts";
import { blockedBy, runTask, selectTasks, type Task, type TaskReport } from "./task.ts";
import { Trial } from "./trial.ts";

const task = (number: number, needs: readonly number[] = [], run: Task["run"] = async () => ""): Task => ({
  number,
  title: `task ${number}`,
  needs,
  run,
});

const report = (change: Partial<TaskReport> = {}): TaskReport => ({
  number: 1,
  title: "install",
  outcome: "worked",
  note: "",
  seconds: 12.34,
  commands: [
    { command: "npm install", seconds: 10, silentSeconds: 9 },
    { command: "perch dev", seconds: 2, silentSeconds: 1 },
  ],
  ...change,
});

const numbersOf = (tasks: readonly Task[]) => tasks.map(({ number }) => number);

test("a chosen task brings all those that it needs, in their order, and no other", () => {
  const tasks = [task(1), task(2, [1]), task(3, [2]), task(4, [2]), task(5, [1])];
  expect(numbersOf(selectTasks(tasks, [4, 1]))).toEqual([1, 2, 4]);
  expect(numbersOf(selectTasks(tasks, []))).toEqual([1, 2, 3, 4, 5]);
  expect(() => selectTasks(tasks, [6])).toThrow("There is no task 6.");
});

test("a task is not tried if one that it needs failed or was not tried itself", () => {
  expect(blockedBy(task(2, [1]), [report()])).toBeUndefined();
  for (const outcome of ["failed", "skipped"] as const)
    expect(blockedBy(task(2, [1]), [report({ outcome })]), outcome).toBe(1);
});

test("a task that throws has failed, with its reason", async () => {
  const trial = new Trial("/nowhere", new AbortController().signal, () => {});
  const failing = task(1, [], async () => {
    throw new Error("It rained.");
  });
  expect(await runTask(failing, trial)).toMatchObject({ outcome: "failed", note: "It rained." });
  expect(
    await runTask(
      task(2, [], async () => "dry"),
      trial,
    ),
  ).toMatchObject({ outcome: "worked", note: "dry" });
});

test("the end undoes everything, the last first, and reports what could not be undone", async () => {
  const trial = new Trial("/nowhere", new AbortController().signal, () => {});
  const undone: string[] = [];
  const broken = new Error("It is stuck.");
  trial.onEnd(() => undone.push("first"));
  trial.onEnd(() => Promise.reject(broken));
  trial.onEnd(async () => undone.push("last"));
  expect(await trial.end()).toEqual([broken]);
  expect(undone).toEqual(["last", "first"]);
});

test("the table has a row for each task, with the command that was silent for the longest time, and a sum", () => {
  const failed = report({ number: 2, outcome: "failed", note: "a | b\nmore", seconds: 1, commands: [] });
  expect(trialTable([report(), failed]).split("\n")).toEqual([
    "|  | task | result | time | commands | longest silence |",
    "|---|---|---|---|---|---|",
    "| 1 | install | worked | 12.3 s | 2 | 9.0 s, npm install |",
    "| 2 | install | failed: a \\| b | 1.0 s | 0 |  |",
    "|  | all | 1 of 2 worked | 13.3 s | 2 |  |",
  ]);
});

test("a failure is summarised by its first line, or by the error that this line announces", () => {
  expect(summarise("It rained.\nAll day.")).toBe("It rained.");
  expect(summarise("node bot.ts ended with 1:\n  at line 3\nTypeError: no\nNode.js v24")).toBe(
    "node bot.ts ended with 1: TypeError: no",
  );
});

test("sizes are those of the whole and of the largest packages", () => {
  const parts = readDiskUse("100\tsmall\n4096\t@scope/large\n5000\t.\n");
  expect(parts.map(({ name }) => name)).toEqual(["all", "@scope/large", "small"]);
  expect(sizeTable(parts, 1).split("\n").slice(2)).toEqual(["| all | 4.9 MB |", "| @scope/large | 4.0 MB |"]);
});

test("a command of ours that is silent for too long is slow, npm's silence is not ours, and a busy machine may be slower", () => {
  const quiet = report({ commands: [{ command: "perch apply --yes", seconds: 9, silentSeconds: 5 }] });
  expect(listSlow([report(), quiet], 1)).toEqual(["Task 1: perch apply --yes was silent for 5.0 s."]);
  expect(listSlow([quiet], 3)).toEqual([]);
  expect(listSlow([report({ seconds: 301 })], 1)).toEqual(["The whole took 301 s instead of 300 s."]);
  expect(listSlow([report({ seconds: 301 })], 2)).toEqual([]);
});

test("the next release has a higher version and wants its own packages in that version", () => {
  expect(nextVersion("0.1.9")).toBe("0.1.10");
  expect(raiseManifest({ version: "0.1.0", dependencies: { "@perch/sdk": "0.1.0", yaml: "0.1.0" } })).toEqual({
    version: "0.1.1",
    dependencies: { "@perch/sdk": "0.1.1", yaml: "0.1.0" },
  });
});
