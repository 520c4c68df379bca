import { useState } from "react";
import { classNames } from "../parts/class-names.ts";
import { formatCount, formatDuration } from "../parts/duration.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { OutsideText } from "../parts/outside-text.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { StepContents } from "./step-contents.tsx";
import type { TraceStep } from "./trace.ts";
import type { Span } from "./trace-times.ts";

const kinds: Record<TraceStep["kind"], { readonly icon: IconName; readonly word: string }> = {
  model: { icon: "model", word: "Model" },
  tool: { icon: "tool", word: "Tool" },
  tools: { icon: "search", word: "Tools of" },
  memory: { icon: "memory", word: "Memory" },
};

const bars: Record<TraceStep["status"], string> = {
  running: "bg-accent",
  completed: "bg-line-strong",
  failed: "bg-danger",
  retried: "bg-warning",
  interrupted: "bg-warning",
  cancelled: "bg-line-strong",
};

interface TraceRowProps {
  readonly step: TraceStep;
  readonly span: Span | undefined;
  /** How long it has been running so far. */
  readonly runningMs: number | undefined;
}

const StepBar = ({ span, status }: { readonly span: Span; readonly status: TraceStep["status"] }) => (
  <span aria-hidden="true" className="absolute inset-x-4 bottom-0 h-[3px]">
    <span
      className={classNames("absolute inset-y-0 rounded-full", bars[status])}
      style={{ left: `${span.left}%`, width: `${span.width}%` }}
    />
  </span>
);

export function TraceRow({ step, span, runningMs }: TraceRowProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { icon, word } = kinds[step.kind];
  const lasted = span === undefined ? undefined : (step.durationMs ?? runningMs);
  return (
    <li className="border-line border-b">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="relative flex h-8 w-full items-center gap-2 px-4 text-left hover:bg-sunken focus-visible:outline-offset-[-2px]"
      >
        <Icon name={icon} className="size-3.5 text-muted" />
        <span className="sr-only">{word}</span>
        <span className="min-w-0 truncate">
          <OutsideText text={step.kind === "memory" ? "Recall of memories" : step.name} />
        </span>
        {step.attempt > 1 && <span className="whitespace-nowrap text-muted text-small">attempt {step.attempt}</span>}
        <span className="ml-auto flex shrink-0 items-center gap-2 text-muted">
          {step.tokens !== null && <span className="text-small">{formatCount(step.tokens)} tokens</span>}
          {lasted !== undefined && <span className="w-14 text-right">{formatDuration(lasted)}</span>}
          <StatusMark status={step.status} iconOnly />
        </span>
        {span && <StepBar span={span} status={step.status} />}
      </button>
      {isOpen && <StepContents step={step} />}
    </li>
  );
}
