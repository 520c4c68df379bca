import type { LogEntry } from "@perch/sdk";
import type { Terminal } from "../terminal.ts";
import { coloured, spaced } from "./text.ts";
import type { FormatTime } from "./time.ts";

/** In place of the environment of a run. */
const draft = Symbol("draft");

/** How fields of Perch's own entries read. */
const readings: Readonly<Record<string, (value: unknown) => string>> = {
  type: () => "",
  step: (value) => `step ${value}`,
  steps: (value) => `${value} ${value === 1 ? "step" : "steps"}`,
  call: (value) => `call ${value}`,
  attempt: (value) => `attempt ${value}`,
  duration_ms: (value) => `${value} ms`,
  retry_after_ms: (value) => `again after ${value} ms`,
  tokens: (value) => `${value} tokens`,
  tokens_used: (value) => `${value} tokens`,
  tool_calls: (value) => `${value} tool ${value === 1 ? "call" : "calls"}`,
  next_model: (value) => `next ${value}`,
  failed: () => "failed",
  environment: (value) => (value === draft ? "draft" : `in ${value}`),
  session_id: (value) => `session ${value}`,
  user_id: (value) => `user ${value}`,
};
/** Entries that others write have fields of their own, which stay as they are. */
const ownTypes = new Set(["model_call", "tool_call", "tools", "memory", "interrupted", "ended", "truncated"]);
/** Inputs and outputs are long, so they come last. */
const contents = ["input", "output"];

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function readField(name: string, value: unknown, message: string): string {
  // `Model call: perch/echo` names the model already.
  if (typeof value === "string" && message.includes(value)) return "";
  return readings[name]?.(value) ?? `${spaced(name)} ${asText(value)}`;
}

/** One line of a log: time, level, message and details, and at the end the run. `--json` has the entry as the API gives it. */
export function logLine(
  terminal: Terminal,
  time: FormatTime,
  { timestamp, level, message, metadata }: LogEntry,
): string {
  const { request_id: run, ...rest } = metadata as Readonly<Record<string, unknown>>;
  const isOwn = ownTypes.has(String(rest.type));
  // A run of the draft has no version, and runs in no environment's deployment.
  const isDraft = isOwn && rest.version === null;
  const fields = isDraft ? { ...rest, environment: draft } : rest;
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  const last = ([name]: readonly [string, unknown]) => contents.indexOf(name);
  const details = present
    .toSorted((a, b) => last(a) - last(b))
    .map(([name, value]) => (isOwn ? readField(name, value, message) : `${name}=${asText(value)}`))
    .filter((text) => text !== "");
  const tail = [details.join(isOwn ? ", " : " "), ...(run ? [String(run)] : [])]
    .filter((text) => text !== "")
    .join(" ");
  const line = `${time(timestamp)} ${coloured(terminal, level, 5)} ${terminal.safe(message)} ${terminal.style("dim", tail)}`;
  return terminal.wrap(line.trimEnd(), 4);
}
