import type { LogFilter } from "@perch/sdk";
import { useMemo, useRef } from "react";
import type { LogLine, LogQuery } from "../../api/logs-queries.ts";
import { useFrameSearch } from "../../frame/use-frame-search.ts";
import { Button } from "../../parts/button.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { resolveRange } from "../../parts/time-range.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { CopyLines } from "./list/copy-lines.tsx";
import { LineDetail } from "./list/line-detail.tsx";
import { LogFilters } from "./list/log-filters.tsx";
import { LogList } from "./list/log-list.tsx";
import { countFilters, type LogsSearch, noFilters } from "./logs-search.ts";
import type { LogLines } from "./tail/log-lines.ts";
import { useLog } from "./tail/use-log.ts";

interface AgentLogProps {
  readonly agent: string;
  readonly search: LogsSearch;
  readonly onChange: (change: Partial<LogsSearch>, replace?: boolean) => void;
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
      // What is followed has no end.
      range: { start_time: start.toISOString(), end_time: isTail ? undefined : end?.toISOString() },
    };
  }, [agent, level, contains, request, version, env, range, isTail]);
}

/** The line that is open stays, also when the tab drops it. */
function useOpenLine(lines: LogLines, openId: string | undefined): LogLine | undefined {
  const found = useRef<LogLine>(undefined);
  if (found.current?.id !== openId)
    found.current = openId === undefined ? undefined : lines.all().find(({ id }) => id === openId);
  return found.current;
}

export function AgentLog({ agent, search, onChange }: AgentLogProps) {
  const isTail = search.tail !== undefined;
  const log = useLog(useLogQuery(agent, search), isTail);
  const open = useOpenLine(log.store.lines, search.line);
  const close = () => onChange({ line: undefined });
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
        openId={open?.id}
        onOpen={(line, replace) => onChange({ line: line.id }, replace)}
        isFiltered={countFilters(search) > 0}
        onClear={() => onChange(noFilters)}
      />
    </Page>
  );
  return <SplitView list={list} detail={open && <LineDetail agent={agent} line={open} onClose={close} />} />;
}
