import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { agentNamesQuery } from "../../api/agents-queries.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Page } from "../../parts/page.tsx";
import { Working } from "../../parts/working.tsx";
import { useMe } from "../../session/session.ts";
import { AgentChoice } from "./agent-choice.tsx";
import { AgentLog } from "./agent-log.tsx";
import { LogFilters } from "./list/log-filters.tsx";
import type { LogsSearch } from "./logs-search.ts";

/** The log of one agent. Without one in the address: the only agent there is, or a choice. */
export function Logs() {
  const search = useSearch({ from: "/signed-in/logs" });
  const navigate = useNavigate();
  const change = (next: Partial<LogsSearch>, replace = false) =>
    void navigate({ to: ".", search: ((before: object) => ({ ...before, ...next })) as never, replace });
  if (search.agent !== undefined)
    return <AgentLog key={search.agent} agent={search.agent} search={search} onChange={change} />;
  return (
    <Page title="Logs" below={<LogFilters search={search} onChange={change} />}>
      <FindAgent onChoose={(agent) => change({ agent }, true)} />
    </Page>
  );
}

function FindAgent({ onChoose }: { readonly onChoose: (agent: string) => void }) {
  const { data: names, error, refetch } = useQuery(agentNamesQuery);
  const own = useMe().key.agent_id ?? undefined;
  const only = own ?? (names?.length === 1 ? names[0] : undefined);
  useEffect(() => {
    if (only !== undefined) onChoose(only);
  }, [only]);
  if (error)
    return (
      <div className="p-4">
        <ErrorNote error={error} onRetry={() => void refetch()} />
      </div>
    );
  if (names === undefined || only !== undefined) return <Working what="agents" />;
  return <AgentChoice names={names} />;
}
