import type { LogFilter } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { isNotFound } from "../../api/is-not-found.ts";
import { type LogLine, type LogQuery, lineQuery } from "../../api/logs-queries.ts";
import { useFrameSearch } from "../../frame/use-frame-search.ts";
import { Button } from "../../parts/button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { resolveRange } from "../../parts/time-range.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { CopyLines } from "./list/copy-lines.tsx";
import { LineDetail } from "./list/line-detail.tsx";
import { LogFilters } from "./list/log-filters.tsx";
import { LogList } from "./list/log-list.tsx";
import { countFilters, type LogsSearch, noFilters, noLine } from "./logs-search.ts";
import { type Log, useLog } from "./tail/use-log.ts";

interface AgentLogProps {
  readonly agent: string;
  readonly search: LogsSearch;
  readonly onChange: (
    change: Partial<LogsSearch> & { readonly env?: undefined },
    options?: { readonly replace: boolean },
  ) => void;
}

function useLogQuery(agent: string, search: LogsSearch): LogQuery {
  const [{ env, range }] = useFrameSearch();
  const { level, contains, request, version, tail } = search;
  const isTail = tail !== undefined;
  return useMemo(() => {
    const { start, end } = resolveRange(range, new Date());
    return {
      agent,
      filter: { level: level as LogFilter["level"], contains, request_id: request, version, environment: env },
      // A tail has no end.
      range: { start_time: start.toISOString(), end_time: isTail ? undefined : end?.toISOString() },
    };
  }, [agent, level, contains, request, version, env, range, isTail]);
}

const isTime = (text: string | undefined): boolean => !Number.isNaN(Date.parse(text ?? ""));

interface OpenLine {
  /** Null if it is not in the log. */
  readonly line: LogLine | null | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** The open line stays even if the tab drops it. The line of a link is fetched if the list does not have it. */
function useOpenLine(agent: string, { store, isLoading, tail }: Log, { line: id, at }: LogsSearch): OpenLine {
  const found = useRef<LogLine>(undefined);
  if (found.current?.id !== id)
    found.current = id === undefined ? undefined : store.lines.all().find((line) => line.id === id);
  // A list may wait a long time for its server.
  const isListRead = !isLoading || (tail !== undefined && tail !== "open");
  const isAsked = found.current === undefined && id !== undefined && isListRead && isTime(at);
  const asked = useQuery({ ...lineQuery(agent, id ?? "", at ?? ""), enabled: isAsked });
  const line = found.current ?? (id === undefined ? undefined : asked.data);
  return { line, error: line === undefined ? asked.error : null, retry: () => void asked.refetch() };
}

interface OpenLinePaneProps {
  readonly agent: string;
  readonly open: OpenLine;
  readonly onClose: () => void;
}

function OpenLinePane({ agent, open: { line, error, retry }, onClose }: OpenLinePaneProps) {
  if (line) return <LineDetail agent={agent} line={line} onClose={onClose} />;
  return (
    <DetailPane title={error ? "Line of the log" : "This line is not in the log"} what="the line" onClose={onClose}>
      {error ? (
        <ErrorNote error={error} onRetry={retry} />
      ) : (
        <p className="text-table">
          It may have been deleted: a log is kept for a limited time, and lines about a user go when the user is erased.
        </p>
      )}
    </DetailPane>
  );
}

export function AgentLog({ agent, search, onChange }: AgentLogProps) {
  const [{ env }] = useFrameSearch();
  const isTail = search.tail !== undefined;
  const log = useLog(useLogQuery(agent, search), isTail);
  const open = useOpenLine(agent, log, search);
  const isOpen = open.line !== undefined || (open.error !== null && !isNotFound(open.error));
  const list = (
    <Page
      title={
        <>
          Log of <OutsideText text={agent} />
        </>
      }
      tabTitle={`Log of ${visibleText(agent)}`}
      actions={
        <>
          <CopyLines lines={log.store.lines} />
          <Button kind={isTail ? "plain" : "primary"} onClick={() => onChange({ tail: isTail ? undefined : 1 })}>
            {isTail ? "Stop following" : "Follow log"}
          </Button>
        </>
      }
      below={<LogFilters search={search} onChange={onChange} />}
    >
      <LogList
        agent={agent}
        log={log}
        openId={open.line?.id}
        onOpen={({ id, timestamp }, replace) => onChange({ line: id, at: timestamp }, { replace })}
        isFiltered={countFilters(search) > 0 || env !== undefined}
        onClear={() => onChange({ ...noFilters, env: undefined })}
      />
    </Page>
  );
  const pane = <OpenLinePane agent={agent} open={open} onClose={() => onChange(noLine)} />;
  return <SplitView list={list} detail={isOpen ? pane : undefined} />;
}
