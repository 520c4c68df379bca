import type { Invocation } from "@perch/sdk";
import type { ReactNode } from "react";
import { OutsideText } from "../../../parts/outside-text.tsx";
import type { Trace } from "../../../run-trace/trace.ts";
import { hatched } from "./hatched.ts";
import type { LiveTrace } from "./use-live-trace.ts";

const Note = ({ children }: { readonly children: ReactNode }) => <p className="text-table text-warning">{children}</p>;

/** A page opened while a run is under way gets all earlier events at once. */
const isOpenedLate = (run: Invocation, live: LiveTrace): boolean =>
  live.followedSinceMs - Date.parse(run.created_at) > 2000 && live.trace.steps.length > 0;

const LiveNote = ({ run, live }: { readonly run: Invocation; readonly live: LiveTrace }) => (
  <p className="text-muted text-table">
    {live.isLost ? "The stream of the run was lost; this page asks for the run every few seconds." : "Live."}
    {isOpenedLate(run, live) && " Steps from before this page was opened have no exact times until the run has ended."}
  </p>
);

const legend = [
  ["bg-accent", "model"],
  ["bg-control-line", "tool"],
  ["bg-danger", "failed"],
  ["bg-warning", "retried"],
] as const;

/** The meaning of the bars' colours. The marks beside the names show the same. */
const Legend = () => (
  <ul aria-label="Colours of the bars" className="ml-auto hidden items-center gap-3 text-muted text-small @2xl:flex">
    {legend.map(([colour, name]) => (
      <li key={name} className="flex items-center gap-1">
        <span className={`size-2.5 rounded-[2px] ${colour}`} />
        {name}
      </li>
    ))}
    <li className="flex items-center gap-1">
      <span className="h-2.5 w-4" style={hatched} />
      wait
    </li>
  </ul>
);

interface WaterfallNotesProps {
  readonly run: Invocation;
  readonly trace: Trace;
  /** Set while the run is under way. */
  readonly live: LiveTrace | undefined;
  readonly logLines: number;
  readonly hidesLogs: boolean;
  readonly onToggleLogs: () => void;
}

/** Notes about the waterfall: work was repeated, steps are missing, or it is live. */
export const WaterfallNotes = ({ run, trace, live, logLines, hidesLogs, onToggleLogs }: WaterfallNotesProps) => (
  <div className="flex flex-col gap-1 px-4">
    <div className="flex min-h-6 flex-wrap items-center gap-3">
      <h2 className="text-body">Steps</h2>
      <div role="status">{live && <LiveNote run={run} live={live} />}</div>
      {trace.steps.length > 0 && <Legend />}
      {logLines > 0 && (
        <label className="flex max-@2xl:ml-auto items-center gap-1.5 text-table">
          <input type="checkbox" checked={!hidesLogs} onChange={onToggleLogs} className="accent-accent" />
          Log lines
        </label>
      )}
    </div>
    {trace.steps.some(({ status }) => status === "interrupted") && (
      <Note>
        The worker was lost, or a step failed in the server, while this run was under way: the interrupted step began
        again, and steps that already had a result were not repeated.
      </Note>
    )}
    {trace.dropped !== null && (
      <Note>
        <OutsideText text={trace.dropped} />
      </Note>
    )}
  </div>
);
