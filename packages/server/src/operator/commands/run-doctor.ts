import { parseArgs } from "node:util";
import { version } from "../../platform/version.ts";
import { withinLimit } from "../../platform/within-limit.ts";
import type { Check, Finding, Status } from "../doctor/check.ts";
import { examine } from "../doctor/examine.ts";
import { commandTable } from "./command-table.ts";

const labels: Readonly<Record<Status, string>> = {
  ok: "ok     ",
  warning: "warning",
  failed: "FAILED ",
  skipped: "skipped",
};

const toLine = ({ name, status, message }: Finding): string => `${labels[status]} ${name}: ${message}`;

const noteEveryMs = 1500;

/** Reports on standard error which checks are still running, so that the command is not silent for long. */
function noteWaiting(checks: readonly Check[]): () => void {
  const waiting = new Set(checks);
  for (const check of checks) void check.findings.then(() => waiting.delete(check));
  const timer = setInterval(
    () => console.error(`waiting for: ${[...waiting].map(({ name }) => name).join(", ")}`),
    noteEveryMs,
  );
  return () => clearInterval(timer);
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (status: Status) => findings.filter((each) => each.status === status).length;
  const [failed, warnings, skipped] = [count("failed"), count("warning"), count("skipped")];
  const others = [
    ...(warnings > 0 ? [`${warnings} with a warning`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  return `${[`${findings.length} checks: ${failed === 0 ? "none" : failed} failed`, ...others].join(", ")}.`;
}

/** Prints each finding as soon as it and those before it are there. Exits with 1 if something failed. */
export async function runDoctor(environment: NodeJS.ProcessEnv, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable.doctor.options });
  const { checks, close } = examine(environment);
  const stopNotes = noteWaiting(checks);
  const findings: Finding[] = [];
  for (const check of checks)
    for (const finding of await check.findings) {
      findings.push(finding);
      if (!values.json) console.log(toLine(finding));
    }
  stopNotes();
  const isOk = findings.every(({ status }) => status !== "failed");
  console.log(values.json ? JSON.stringify({ version, ok: isOk, checks: findings }) : summaryOf(findings));
  process.exitCode = isOk ? 0 : 1;
  // A connection that hangs must not keep the command from ending.
  await withinLimit(500, close).catch(() => undefined);
  setTimeout(() => process.exit(), 100).unref();
}
