import type { RunStep } from "@perch/sdk";
import { inPlainWords } from "../plain-words.ts";
import type { Terminal } from "../terminal.ts";
import { coloured } from "./text.ts";

/** The characters of an input or an output that fit on one line of a terminal. `--json` has all of it. */
const maxShown = 200;

const oneLine = (value: unknown): string => {
  const text = (typeof value === "string" ? value : JSON.stringify(value)).replaceAll(/\s+/g, " ").trim();
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
};

const detailsOf = ({ attempt, duration_ms, tokens, retry_after_ms }: RunStep): string =>
  [
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(duration_ms === null ? [] : [`${duration_ms} ms`]),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(retry_after_ms === null ? [] : [`again after ${retry_after_ms} ms`]),
  ].join(", ");

function printStep(terminal: Terminal, step: RunStep): void {
  const { number, kind, call, name, status, reason, input, output } = step;
  const place = call === null ? `${step.step}` : `${step.step}.${call}`;
  const title = `${String(number).padStart(3)}  ${kind.padEnd(6)} ${place.padEnd(4)} ${terminal.safe(name)}`;
  terminal.line(`${title}  ${coloured(terminal, status)}  ${terminal.style("dim", detailsOf(step))}`.trimEnd());
  const part = (label: string, value: unknown) => {
    if (value !== null && value !== undefined)
      terminal.line(terminal.wrap(terminal.style("dim", `       ${label} `) + terminal.safe(oneLine(value)), 14));
  };
  part("reason", reason && inPlainWords(reason));
  part("input ", input);
  part("output", output);
}

/** The steps of a run, with as much of their contents as the agent's `logs` setting keeps. */
export function printSteps(terminal: Terminal, steps: readonly RunStep[]): void {
  for (const step of steps) printStep(terminal, step);
}
