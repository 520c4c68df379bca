import type { LogEntry } from "@perch/sdk";
import type { TraceStep } from "../../../run-trace/trace.ts";

/** From its beginning to its end, in ms since 1970. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

export interface StepItem {
  readonly type: "step";
  readonly key: string;
  readonly step: TraceStep;
  readonly span: Span;
  /** The end of the wait before the next attempt; null if there was none. */
  readonly waitEndMs: number | null;
  /** Not the first attempt of its call: it stands below the earlier ones. */
  readonly isFurtherAttempt: boolean;
}

export interface LogItem {
  readonly type: "log";
  readonly key: string;
  readonly entry: LogEntry;
  readonly atMs: number;
}

export const levelNames = { debug: "debug", info: "info", warn: "warning", error: "error" } as const;

export type WaterfallItem = StepItem | LogItem;

const callOf = ({ kind, step, call, name }: TraceStep): string => `${kind} ${step} ${call} ${name}`;

/** The attempts of each call together, calls in the order in which they began. */
function groupByCall(steps: readonly TraceStep[]): TraceStep[][] {
  const groups = new Map<string, TraceStep[]>();
  for (const step of steps) groups.set(callOf(step), [...(groups.get(callOf(step)) ?? []), step]);
  return [...groups.values()];
}

/** An interrupted attempt has no end of its own: it lasted until it began again. */
function endOf(step: TraceStep, next: TraceStep | undefined, nowMs: number): number {
  if (step.durationMs !== null) return step.startedAtMs + step.durationMs;
  if (step.status === "running") return Math.max(nowMs, step.startedAtMs);
  return step.status === "interrupted" && next ? next.startedAtMs : step.startedAtMs;
}

const toItems = (group: readonly TraceStep[], nowMs: number): StepItem[] =>
  group.map((step, index) => {
    const endMs = endOf(step, group[index + 1], nowMs);
    return {
      type: "step",
      key: step.key,
      step,
      span: { startMs: step.startedAtMs, endMs },
      waitEndMs: step.waitMs === null ? null : endMs + step.waitMs,
      isFurtherAttempt: index > 0,
    };
  });

/** Types of log lines that repeat a step. */
const typesOfSteps: readonly unknown[] = ["model_call", "tool_call", "tools", "memory", "interrupted"];

/** The log lines that no step already shows. */
export const logItems = (timeline: readonly LogEntry[]): LogItem[] =>
  timeline
    .filter(({ metadata }) => !typesOfSteps.includes(metadata.type))
    .map((entry, index) => ({ type: "log", key: `log ${index}`, entry, atMs: Date.parse(entry.timestamp) }));

/** A short run can end within the millisecond in which its last step began. */
const isLast = ({ entry }: LogItem): boolean => entry.metadata.type === "ended";

/** Steps with log lines between them, each line before the first call that began after it. */
export function waterfallItems(
  steps: readonly TraceStep[],
  logs: readonly LogItem[],
  nowMs: number,
): readonly WaterfallItem[] {
  const items: WaterfallItem[] = [];
  const waiting = [...logs];
  for (const group of groupByCall(steps)) {
    const begins = group[0]?.startedAtMs ?? 0;
    while (waiting[0] && waiting[0].atMs <= begins && !isLast(waiting[0])) items.push(waiting.shift() as LogItem);
    items.push(...toItems(group, nowMs));
  }
  return [...items, ...waiting];
}

/** The time of the picture: the whole run, with every step in it. */
export function spanOf(run: Span, items: readonly WaterfallItem[]): Span {
  const steps = items.filter((item) => item.type === "step");
  const startMs = Math.min(run.startMs, ...steps.map(({ span }) => span.startMs));
  const endMs = Math.max(run.endMs, ...steps.map(({ span, waitEndMs }) => Math.max(span.endMs, waitEndMs ?? 0)));
  return { startMs, endMs: Math.max(endMs, startMs + 1) };
}

/** The position of a time in the picture, in percent of its width. */
export const percentAt = (whole: Span, atMs: number): number =>
  Math.min(100, Math.max(0, ((atMs - whole.startMs) / (whole.endMs - whole.startMs)) * 100));

/** Round times, beginning with 0, and no more of them than there is room for. */
export function ticksOf({ startMs, endMs }: Span, maxTicks: number): readonly number[] {
  const length = endMs - startMs;
  const power = 10 ** Math.floor(Math.log10(length / maxTicks));
  const step = [1, 2, 5].map((factor) => factor * power).find((size) => length / size <= maxTicks) ?? 10 * power;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}
