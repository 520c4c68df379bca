import type { CSSProperties } from "react";
import { classNames } from "../../../parts/class-names.ts";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { Icon, type IconName } from "../../../parts/icon.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import type { TraceKind, TraceStatus } from "../../../run-trace/trace.ts";
import { hatched } from "./hatched.ts";
import {
  type LogItem,
  levelNames,
  percentAt,
  type Span,
  type StepItem,
  type WaterfallItem,
} from "./waterfall-items.ts";

export const idOfItem = (key: string): string => `step-${encodeURIComponent(key)}`;

const icons: Record<TraceKind, IconName> = { model: "model", tool: "tool", tools: "tool", memory: "memory" };

const barColours: Record<TraceStatus, string> = {
  running: "bg-accent pulse",
  completed: "bg-accent",
  failed: "bg-danger",
  retried: "bg-warning",
  interrupted: "border border-dashed border-warning",
  cancelled: "bg-control-line",
};

const barColour = (status: TraceStatus, kind: TraceKind): string =>
  status === "completed" && kind !== "model" ? "bg-control-line" : barColours[status];

const place = (whole: Span, { startMs, endMs }: Span): CSSProperties => {
  const left = percentAt(whole, startMs);
  return { left: `min(${left}%, calc(100% - 2px))`, width: `${percentAt(whole, endMs) - left}%` };
};

const Bars = ({ item, whole }: { readonly item: StepItem; readonly whole: Span }) => (
  <span aria-hidden="true" className="relative h-full">
    <span
      className={classNames("absolute top-2 h-4 min-w-0.5 rounded-[2px]", barColour(item.step.status, item.step.kind))}
      style={place(whole, item.span)}
    />
    {item.waitEndMs !== null && (
      <span
        title={`Waited ${formatDuration(item.step.waitMs)} before the next attempt`}
        className="absolute top-2.5 h-3"
        style={{ ...place(whole, { startMs: item.span.endMs, endMs: item.waitEndMs }), ...hatched }}
      />
    )}
  </span>
);

const attemptText = ({ step: { attempt, status }, isFurtherAttempt }: StepItem): string | undefined => {
  if (status === "interrupted") return "interrupted";
  if (!isFurtherAttempt) return undefined;
  return attempt > 1 ? `attempt ${attempt}` : "began again";
};

const StepName = ({ item }: { readonly item: StepItem }) => {
  const { step, isFurtherAttempt } = item;
  const about = attemptText(item);
  return (
    <span className={classNames("flex min-w-0 items-center gap-1.5", isFurtherAttempt && "pl-5")}>
      {!isFurtherAttempt && <Icon name={icons[step.kind]} className="size-3.5 text-muted" />}
      <span className={classNames("min-w-0 truncate", isFurtherAttempt && "sr-only")}>
        <OutsideText text={step.name} />
      </span>
      {about && <span className="min-w-0 truncate text-muted text-small">{about}</span>}
      {step.status !== "completed" && (
        <span className="ml-auto shrink-0">
          <StatusMark status={step.status} iconOnly />
        </span>
      )}
    </span>
  );
};

const StepCells = ({ item, whole }: { readonly item: StepItem; readonly whole: Span }) => (
  <>
    <StepName item={item} />
    <Bars item={item} whole={whole} />
    <span className="text-right font-mono text-small">
      {item.step.status === "running" ? "…" : formatDuration(item.step.durationMs)}
    </span>
    <span className="text-right font-mono text-small">
      {item.step.tokens !== null && (
        <>
          {formatCount(item.step.tokens)}
          <span className="sr-only"> tokens</span>
        </>
      )}
    </span>
  </>
);

const levelColours = { debug: "text-muted", info: "text-muted", warn: "text-warning", error: "text-danger" };

const LogCells = ({ item, whole }: { readonly item: LogItem; readonly whole: Span }) => (
  <>
    <span className={classNames("flex min-w-0 items-center gap-1.5 text-small", levelColours[item.entry.level])}>
      <span className="font-mono">{levelNames[item.entry.level]}</span>
      <span className="min-w-0 truncate">
        <OutsideText text={item.entry.message} />
      </span>
    </span>
    <span aria-hidden="true" className="relative h-full">
      <span
        className="absolute top-1 h-6 border-line-strong border-l border-dashed"
        style={{ left: `min(${percentAt(whole, item.atMs)}%, calc(100% - 1px))` }}
      />
    </span>
    <span className="text-right font-mono text-muted text-small">+{formatDuration(item.atMs - whole.startMs)}</span>
    <span />
  </>
);

interface WaterfallRowProps {
  readonly item: WaterfallItem;
  readonly whole: Span;
  readonly isSelected: boolean;
}

export const WaterfallRow = ({ item, whole, isSelected }: WaterfallRowProps) => (
  <div
    role="option"
    tabIndex={-1}
    id={idOfItem(item.key)}
    data-key={item.key}
    aria-selected={isSelected}
    className={classNames(
      "waterfall-grid h-8 cursor-pointer items-center border-line border-b",
      isSelected ? "bg-accent-soft" : "hover:bg-sunken",
    )}
  >
    {item.type === "step" ? <StepCells item={item} whole={whole} /> : <LogCells item={item} whole={whole} />}
  </div>
);
