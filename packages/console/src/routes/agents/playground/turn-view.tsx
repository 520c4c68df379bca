import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { runQuery } from "../../../api/runs-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Button, buttonClass } from "../../../parts/button.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Answer } from "./answer.tsx";
import { differenceText } from "./difference.ts";
import type { Turn } from "./turn.ts";
import { TurnProblem } from "./turn-problem.tsx";

interface TurnViewProps {
  readonly agent: string;
  readonly turn: Turn;
  /** The same message on the other side. */
  readonly counterpart: Turn | undefined;
  readonly isTraced: boolean;
  readonly onTrace: () => void;
  /** Undefined if the user may not start runs. */
  readonly onEdit: (() => void) | undefined;
  readonly onFollow: () => void;
}

const Waiting = ({ turn }: { readonly turn: Turn }) => {
  const doing = turn.isStopping
    ? "Stopping. The current call of the model cannot be interrupted; the run ends before its next step."
    : undefined;
  const running = turn.trace?.steps.findLast(({ status }) => status === "running");
  const step = running && `${running.kind === "tool" ? "Calls the tool" : "Waits for"} ${running.name}`;
  const accepted = turn.runId === undefined ? "Sends the message" : "Waits for its turn";
  return (
    <p className="flex items-center gap-2 text-muted text-table">
      <StatusMark status="running" iconOnly />
      <OutsideText text={turn.trouble ?? doing ?? step ?? accepted} />
    </p>
  );
};

/** The record names the version that ran: another one may be live since, and a canary takes some of the runs. */
function useVersion(agent: string, { runId, status, version }: Turn): string | null | undefined {
  const isNeeded = runId !== undefined && status !== "running" && version === undefined;
  const { data } = useQuery({
    ...runQuery(agent, runId ?? ""),
    enabled: isNeeded,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return version === undefined ? data?.version : version;
}

function TurnFacts({ agent, turn, counterpart }: Pick<TurnViewProps, "agent" | "turn" | "counterpart">) {
  const version = useVersion(agent, turn);
  const difference = counterpart && differenceText(turn, counterpart);
  return (
    <>
      {version !== undefined && turn.status !== "running" && <OutsideText text={version ?? "draft"} />}
      {turn.durationMs !== null && <span>{formatDuration(turn.durationMs)}</span>}
      {turn.tokens !== null && <span>{formatCount(turn.tokens)} tokens</span>}
      {difference && <span className="text-canary">{difference}</span>}
      <Ago at={turn.createdAt} />
    </>
  );
}

export function TurnView({ agent, turn, counterpart, isTraced, onTrace, onEdit, onFollow }: TurnViewProps) {
  return (
    <li className="flex flex-col gap-2 border-line border-b px-4 py-3">
      <div className="border-line-strong border-l-2 pl-3 text-muted">
        <span className="sr-only">Message: </span>
        <OutsideText block text={turn.message} />
      </div>
      <div className="max-w-[96ch]">
        <Answer turn={turn} isOwn={turn.trace !== undefined} />
      </div>
      {turn.status === "running" && <Waiting turn={turn} />}
      {turn.status === "waiting" && (
        <p className="text-muted text-table">It waits for a person, and goes on after the decision.</p>
      )}
      {turn.status === "completed" && turn.isStopping && (
        <p className="text-muted text-table">
          This was the last step of the run, so it completed before it could stop.
        </p>
      )}
      <TurnProblem turn={turn} onFollow={onFollow} onEdit={onEdit} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-small">
        {turn.status !== "running" && <StatusMark status={turn.status} />}
        <TurnFacts agent={agent} turn={turn} counterpart={counterpart} />
        <span className="ml-auto flex flex-wrap items-center gap-1">
          {turn.answer !== "" && <CopyButton text={turn.answer} what="the answer" />}
          <Button
            kind="quiet"
            className={classNames("h-6 px-2", isTraced && "!text-text underline decoration-accent underline-offset-4")}
            aria-pressed={isTraced}
            onClick={onTrace}
          >
            Trace
          </Button>
          {turn.runId !== undefined && (
            <Link
              to="/runs/$agent/$run"
              params={{ agent, run: turn.runId }}
              className={buttonClass("quiet", "h-6 px-2")}
            >
              Open run
            </Link>
          )}
          {onEdit && turn.status !== "running" && turn.status !== "failed" && (
            <Button kind="quiet" className="h-6 px-2" onClick={onEdit}>
              Edit and run again
            </Button>
          )}
        </span>
      </div>
    </li>
  );
}
