import type { Invocation } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Suspense } from "react";
import { isNotFound } from "../../api/is-not-found.ts";
import { runQuery } from "../../api/runs-queries.ts";
import { CloseButton } from "../../parts/close-button.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { IdText } from "../../parts/id-text.tsx";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useDetail } from "../../parts/use-detail.ts";
import { Working } from "../../parts/working.tsx";
import { RunBody } from "./run/run-body.tsx";

const RunActions = lazyPage(() => import("./run/run-actions.tsx"), "RunActions");

const keptDays = 30;

const NoRun = ({ run }: { readonly run: string }) => (
  <EmptyState title="There is no such run">
    <p>
      No run <OutsideText text={run} className="font-mono text-table" /> of this agent can be reached. Runs are kept for{" "}
      {keptDays} days, so it may be older than that; or the id belongs to another agent or organisation.
    </p>
  </EmptyState>
);

interface HeaderProps {
  readonly Heading: "h1" | "h2";
  readonly agent: string;
  readonly id: string;
  readonly run: Invocation | undefined;
  readonly onClose: () => void;
}

const Header = ({ Heading, agent, id, run, onClose }: HeaderProps) => (
  <header className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pt-3">
    <Heading className="flex min-w-0 items-center gap-2 font-medium text-body">
      {run ? <StatusMark status={run.status} /> : "Run"}
      <IdText id={id} what="the request id" />
    </Heading>
    <div className="ml-auto flex items-center gap-2">
      {run && (
        <Suspense>
          <RunActions key={id} agent={agent} run={run} />
        </Suspense>
      )}
      <CloseButton what="the run" onClose={onClose} />
    </div>
  </header>
);

/** One run: its message and response, and every step on the way. */
export function RunPage() {
  const { agent, run: id } = useParams({ from: "/signed-in/runs/$agent/$run" });
  const navigate = useNavigate();
  const { data: run, error, refetch } = useQuery(runQuery(agent, id));
  const close = () =>
    void navigate({
      to: "/runs",
      search: ({ step: _step, logs: _logs, ...list }: Record<string, unknown>) => list,
      resetScroll: false,
    });
  const { ref, Heading } = useDetail(close);
  const isMissing = isNotFound(error);
  return (
    <div ref={ref} tabIndex={-1} className="@container flex h-full min-h-0 flex-col overflow-auto outline-none">
      <Header Heading={Heading} agent={agent} id={id} run={run} onClose={close} />
      {run && <RunBody key={id} agent={agent} run={run} />}
      {!run && !error && <Working what="the run" />}
      {isMissing && <NoRun run={id} />}
      {error && !isMissing && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
    </div>
  );
}
