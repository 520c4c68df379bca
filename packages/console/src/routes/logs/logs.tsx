import { useSearch } from "@tanstack/react-router";
import { ChooseAgent } from "../../lists/choose-agent.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { Page } from "../../parts/page.tsx";
import { AgentLog } from "./agent-log.tsx";
import { LogFilters } from "./list/log-filters.tsx";
import type { LogsSearch } from "./logs-search.ts";

/** The log of one agent. If the address names none: the only agent, or a choice. */
export function Logs() {
  const search = useSearch({ from: "/signed-in/logs" });
  const change = useSearchChange<Partial<LogsSearch>>();
  if (search.agent !== undefined)
    return <AgentLog key={search.agent} agent={search.agent} search={search} onChange={change} />;
  return (
    <Page title="Logs" below={<LogFilters search={search} onChange={change} />}>
      <ChooseAgent title="Whose log?">
        Each agent has its own log of its runs, with the lines that its tools add.
      </ChooseAgent>
    </Page>
  );
}
