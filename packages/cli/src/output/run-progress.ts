import type { RunStreamEvent } from "@perch/sdk";
import { inPlainWords } from "../plain-words.ts";
import type { Terminal } from "../terminal.ts";

/** What a run is busy with, by the events that it sent. */
interface Activity {
  readonly name: string;
  readonly attempt: number;
  /** Set while the next attempt is awaited. */
  readonly retry?: { readonly atMs: number; readonly reason: string };
}

type StepOrTool = Extract<RunStreamEvent, { readonly type: "step" | "tool" }>;

/** Nothing stays silent for longer. */
const maxSilenceMs = 2000;
const redrawMs = 250;

const seconds = (ms: number): string => `${Math.max(0, ms / 1000).toFixed(ms < 1000 ? 1 : 0)} s`;

const nameOf = (event: StepOrTool): string => {
  if (event.type === "tool" || event.kind === "model") return event.name;
  return event.kind === "tools" ? `the tools of ${event.name}` : "memories";
};

const keyOf = (event: StepOrTool): string => `${event.step} ${event.type === "tool" ? event.call : event.kind}`;

/** Within a line, so without the full stop that ends a sentence. */
const because = (reason: string | undefined): string =>
  reason === undefined ? "" : `: ${inPlainWords(reason).replace(/\.$/, "")}`;

/** The line that stays on the screen; undefined for what goes as it should and is only shown while it lasts. */
function noteOf(event: StepOrTool): string | undefined {
  const { attempt, status, reason, retry_after_ms: waitMs } = event;
  const name = nameOf(event);
  if (status === "retried") {
    const next = waitMs === undefined ? "" : `; attempt ${attempt + 1} in ${seconds(waitMs)}`;
    return `[${name} attempt ${attempt} failed${because(reason)}${next}]`;
  }
  if (status === "interrupted")
    return `[${name} interrupted: its worker was lost, or it failed in the server; it begins again]`;
  if (status === "failed") return `[${name} failed${because(reason)}]`;
  return event.type === "tool" ? `[${name} ${status}]` : undefined;
}

function personOf({ approvals }: Extract<RunStreamEvent, { readonly type: "action_required" }>): string {
  const what = approvals.map(
    ({ kind, tool, id }) => `${kind === "question" ? "answer" : "decide about"} ${tool} (${id})`,
  );
  return what.length === 0
    ? "an earlier run of the session, which waits for a person"
    : `a person to ${what.join(" and ")}`;
}

export interface RunProgress {
  /** Takes an event, and returns a line to print of it. */
  readonly take: (event: RunStreamEvent) => string | undefined;
  /** Whether something of the response stands on the line that the cursor is in, so that nothing may be drawn there. */
  readonly setMidLine: (isMidLine: boolean) => void;
  readonly stop: () => void;
}

interface ProgressOptions {
  /** The conversation of the run, whose earlier runs come first. */
  readonly session?: string | undefined;
  /** Whether the server has accepted the run. */
  readonly isAccepted: () => boolean;
}

/**
 * Says what a run waits for. On a terminal this is one line, drawn again and again; elsewhere it is a line on standard error after each
 * two seconds without an event.
 */
export function startRunProgress(terminal: Terminal, { session, isAccepted }: ProgressOptions): RunProgress {
  const activities = new Map<string, Activity>();
  let hasBegun = false;
  /** What a person must do before the run goes on. */
  let person: string | undefined;
  let isMidLine = false;
  let lastSignMs = Date.now();
  let sinceMs = lastSignMs;

  const nextOf = ({ name, attempt, retry }: Activity, nowMs: number): string => {
    if (retry) return `${name}, attempt ${attempt + 1} in ${seconds(retry.atMs - nowMs)}${because(retry.reason)}`;
    return attempt > 1 ? `${name}, attempt ${attempt}` : name;
  };
  const awaited = (nowMs: number): string => {
    if (!isAccepted()) return "Perch to accept the run";
    if (!hasBegun) return session === undefined ? "a worker" : `a worker, or for an earlier run of session ${session}`;
    if (person !== undefined) return person;
    const all = [...activities.values()].map((activity) => nextOf(activity, nowMs));
    return all.length > 0 ? all.join(" and ") : "the next step";
  };
  const draw = () => {
    const nowMs = Date.now();
    const text = () => `waiting for ${awaited(nowMs)} (${seconds(nowMs - sinceMs)})`;
    if (terminal.status) {
      if (!isMidLine) terminal.status(text());
    } else if (nowMs + redrawMs - lastSignMs > maxSilenceMs) {
      terminal.note(text());
      lastSignMs = nowMs;
    }
  };
  const timer = setInterval(draw, redrawMs);

  const takeStep = (event: StepOrTool): string | undefined => {
    const { attempt, status, reason = "", retry_after_ms: waitMs } = event;
    if (status === "completed" || status === "failed") activities.delete(keyOf(event));
    else {
      const retry = status === "retried" ? { atMs: Date.now() + (waitMs ?? 0), reason } : undefined;
      activities.set(keyOf(event), { name: nameOf(event), attempt, ...(retry && { retry }) });
    }
    return noteOf(event);
  };
  return {
    take: (event) => {
      terminal.status?.("");
      hasBegun = true;
      person = event.type === "action_required" ? personOf(event) : undefined;
      sinceMs = Date.now();
      const line = event.type === "step" || event.type === "tool" ? takeStep(event) : undefined;
      // An event of which nothing is printed leaves the reader in silence.
      if (line !== undefined || event.type !== "step") lastSignMs = sinceMs;
      return line;
    },
    setMidLine: (value) => {
      isMidLine = value;
    },
    stop: () => {
      clearInterval(timer);
      terminal.status?.("");
    },
  };
}
