import type { Invocation } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import { runStepsQuery } from "../../../api/runs-queries.ts";
import { ContentView } from "../../../parts/content-view.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { lazyPage } from "../../../parts/lazy-page.tsx";
import { Working } from "../../../parts/working.tsx";
import { traceOfSteps } from "../../../run-trace/trace-of-steps.ts";
import { useNow } from "../../../run-trace/use-now.ts";
import { FailureNote, failingStep } from "./failure-note.tsx";
import { RunFacts } from "./run-facts.tsx";
import { isUnderWay, useLiveTrace, withoutGuesses } from "./use-live-trace.ts";
import { WaitingNote } from "./waiting-note.tsx";
import { Waterfall } from "./waterfall.tsx";
import { logItems, spanOf, waterfallItems } from "./waterfall-items.ts";
import { WaterfallNotes } from "./waterfall-notes.tsx";
import { idOfItem } from "./waterfall-row.tsx";

const StepDetail = lazyPage(() => import("./step-detail.tsx"), "StepDetail");

interface RunBodyProps {
  readonly agent: string;
  readonly run: Invocation;
}

/** The steps of a run: from its stream while it is under way, from the record while it waits and afterwards. */
function useTrace({ agent, run }: RunBodyProps) {
  const isRunning = isUnderWay(run);
  const live = useLiveTrace(agent, run.request_id, isRunning);
  const recorded = useQuery({
    ...runStepsQuery(agent, run.request_id, run.status),
    enabled: !isRunning,
    // After a wait, the previous steps stay until there are more.
    placeholderData: (before) => (live.trace.steps.length === 0 ? before : undefined),
  });
  const trace = useMemo(() => recorded.data && traceOfSteps(recorded.data), [recorded.data]);
  return { isRunning, live, recorded, trace: trace ?? withoutGuesses(live) };
}

/** While the run is under way, `text` is the model's answer so far. */
const Talk = ({ run, text }: { readonly run: Invocation; readonly text: string }) => (
  <div className="grid gap-3 px-4 @3xl:grid-cols-2">
    <ContentView title="Message" level={2} what="the message" value={run.message} />
    {(run.response ?? text) !== "" && (
      <ContentView title="Response" level={2} what="the response" value={run.response ?? text} />
    )}
  </div>
);

/** Scrolls to a step and focuses it. */
function focusItem(key: string): void {
  const item = document.getElementById(idOfItem(key));
  item?.scrollIntoView({ block: "center" });
  item?.closest<HTMLElement>("[role=listbox]")?.focus({ preventScroll: true });
}

export function RunBody({ agent, run }: RunBodyProps) {
  const navigate = useNavigate();
  const search = useSearch({ from: "/signed-in/runs/$agent/$run" });
  const { isRunning, live, recorded, trace } = useTrace({ agent, run });
  const now = useNow(isRunning);
  const hidesLogs = search.logs === "hide";
  const logs = useMemo(() => logItems(run.timeline), [run.timeline]);
  const items = useMemo(() => waterfallItems(trace.steps, hidesLogs ? [] : logs, now), [trace, logs, hidesLogs, now]);
  const startMs = isRunning ? trace.startedAtMs : Date.parse(run.created_at);
  const whole = spanOf({ startMs, endMs: run.finished_at ? Date.parse(run.finished_at) : now }, items);
  const failing = failingStep(run, trace.steps);
  const selectedKey = search.step ?? failing?.key ?? trace.steps.at(-1)?.key;
  const show = (change: { step?: string; logs?: "hide" | undefined }) =>
    void navigate({ to: ".", search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const durationMs = run.duration_ms ?? Math.max(0, now - Date.parse(run.created_at));
  return (
    <div className="flex flex-col gap-3 py-3">
      <div className="px-4">
        <RunFacts agent={agent} run={run} tokens={isRunning ? trace.tokens : run.tokens_used} durationMs={durationMs} />
      </div>
      {run.status === "failed" && (
        <FailureNote
          run={run}
          step={failing}
          onShowStep={(step) => {
            show({ step });
            focusItem(step);
          }}
        />
      )}
      {run.status === "waiting" && <WaitingNote run={run.request_id} />}
      <Talk run={run} text={isRunning ? trace.text : ""} />
      <WaterfallNotes
        run={run}
        trace={trace}
        live={isRunning ? live : undefined}
        logLines={logs.length}
        hidesLogs={hidesLogs}
        onToggleLogs={() => show({ logs: hidesLogs ? undefined : "hide" })}
      />
      {recorded.isLoading && <Working what="the steps" />}
      {recorded.error && (
        <div className="px-4">
          <ErrorNote error={recorded.error} onRetry={() => void recorded.refetch()} />
        </div>
      )}
      <div className="grid border-line border-t @5xl:grid-cols-2">
        <div className="min-w-0 border-line @5xl:border-r">
          <Waterfall items={items} whole={whole} selectedKey={selectedKey} onSelect={(step) => show({ step })} />
        </div>
        <Suspense fallback={<Working what="the step" />}>
          <StepDetail item={items.find(({ key }) => key === selectedKey)} agent={agent} />
        </Suspense>
      </div>
    </div>
  );
}
