import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { runStepsQuery } from "../../../api/runs-queries.ts";
import { classNames } from "../../../parts/class-names.ts";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Working } from "../../../parts/working.tsx";
import { callCount, type Trace } from "../../../run-trace/trace.ts";
import { TraceList } from "../../../run-trace/trace-list.tsx";
import { traceOfSteps } from "../../../run-trace/trace-of-steps.ts";
import type { Turn } from "./turn.ts";

/** The events as they arrive; once the run has ended or waits, its record, which has the server's times and more of the contents. */
function useTrace(agent: string, turn: Turn | undefined) {
  const runId = turn?.runId;
  const isOver = turn !== undefined && turn.status !== "running" && runId !== undefined;
  const { data, error, isFetching } = useQuery({
    ...runStepsQuery(agent, runId ?? "", turn?.status ?? "running"),
    enabled: isOver,
  });
  const recorded = isOver && data && data.length > 0 ? traceOfSteps(data) : undefined;
  return { trace: recorded ?? turn?.trace, isRecorded: recorded !== undefined, error, isFetching };
}

const factsOf = (trace: Trace | undefined, turn: Turn | undefined): string => {
  const attempts = trace?.steps.length ?? 0;
  const count = trace ? callCount(trace) : 0;
  const facts = [
    `${count} ${count === 1 ? "step" : "steps"}`,
    attempts > count && `${attempts} attempts`,
    turn?.durationMs != null && formatDuration(turn.durationMs),
    turn?.tokens != null && `${formatCount(turn.tokens)} tokens`,
  ];
  return facts.filter(Boolean).join(" · ");
};

interface TracePanelProps {
  readonly agent: string;
  readonly turn: Turn | undefined;
  /** The same message on the other side. */
  readonly counterpart: Turn | undefined;
  /** "Trace", with the version if there are two. */
  readonly label: string;
  /** Below the conversation the panel can be closed; beside it, it is always open. */
  readonly isBeside: boolean;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}

export function TracePanel({ agent, turn, counterpart, label, isBeside, isOpen, onOpen }: TracePanelProps) {
  const id = useId();
  const { trace, isRecorded, error, isFetching } = useTrace(agent, turn);
  return (
    <section
      aria-label={label}
      className={classNames(
        "flex min-h-0 shrink-0 flex-col border-line border-t bg-page",
        isBeside && "lg:w-[420px] lg:border-t-0 lg:border-l",
      )}
    >
      <h2 className={classNames("hidden px-4 py-2 text-table", isBeside && "lg:block")}>
        Trace <span className="font-normal text-muted">{factsOf(trace, turn)}</span>
      </h2>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => onOpen(!isOpen)}
        className={classNames(
          "flex h-8 shrink-0 items-center gap-2 px-4 text-table focus-visible:outline-offset-[-2px]",
          isBeside && "lg:hidden",
        )}
      >
        <Icon name={isOpen ? "down" : "right"} className="size-3" />
        <span className="font-medium">Trace</span>
        <span className="text-muted">{factsOf(trace, turn)}</span>
      </button>
      <div
        id={id}
        className={classNames(
          "max-h-[40vh] min-h-0 overflow-auto border-line border-t",
          !isOpen && "hidden",
          isBeside && "lg:block lg:max-h-none lg:flex-1",
        )}
      >
        {trace && (
          <TraceList
            key={turn?.id}
            trace={trace}
            hasTimes={isRecorded || !turn?.isFollowed}
            minLengthMs={counterpart?.durationMs ?? undefined}
          />
        )}
        {!trace && isFetching && <Working what="the steps" />}
        {error && <ErrorNote error={error} />}
        {!turn && (
          <p className="px-4 py-3 text-muted text-table">
            The steps of a turn appear here as they happen: calls of the model, of tools and of memory, with every
            attempt.
          </p>
        )}
      </div>
    </section>
  );
}
