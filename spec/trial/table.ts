import type { InstalledPart } from "./installed-size.ts";
import type { TaskReport } from "./task.ts";

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

/** The first line, and what it announces if it ends with a colon: of a program's output, the line with its error. */
export function summarise(text: string): string {
  const [first = "", ...others] = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  if (!first.endsWith(":")) return first;
  return `${first} ${others.find((line) => /error\b/i.test(line)) ?? others[0] ?? ""}`;
}

/** A bar would end the cell. */
const cell = (text: string, maxLength: number): string => {
  const line = summarise(text);
  const short = line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
  return short.replaceAll("|", "\\|");
};

/** The command that was silent for the longest time. */
const quietest = ({ commands }: TaskReport) => commands.toSorted((a, b) => b.silentSeconds - a.silentSeconds)[0];

function silence(report: TaskReport): string {
  const quiet = quietest(report);
  return quiet ? `${quiet.silentSeconds.toFixed(1)} s, ${cell(quiet.command, 40)}` : "";
}

export function trialTable(reports: readonly TaskReport[]): string {
  const rows = reports.map((report) => {
    const { number, title, outcome, note, seconds, commands } = report;
    const result = note ? `${outcome}: ${cell(note, 240)}` : outcome;
    return row(number, title, result, `${seconds.toFixed(1)} s`, commands.length, silence(report));
  });
  const sum = reports.reduce((total, { seconds }) => total + seconds, 0);
  const commands = reports.reduce((total, report) => total + report.commands.length, 0);
  const worked = reports.filter(({ outcome }) => outcome === "worked").length;
  return [
    row("", "task", "result", "time", "commands", "longest silence"),
    "|---|---|---|---|---|---|",
    ...rows,
    row("", "all", `${worked} of ${reports.length} worked`, `${sum.toFixed(1)} s`, commands, ""),
  ].join("\n");
}

/** The whole and its largest packages. */
export function sizeTable(parts: readonly InstalledPart[], packages = 10): string {
  const megabytes = (kilobytes: number) => `${(kilobytes / 1024).toFixed(1)} MB`;
  const rows = parts.slice(0, packages + 1).map(({ name, kilobytes }) => row(name, megabytes(kilobytes)));
  return [row("installed", "size"), "|---|---|", ...rows].join("\n");
}
