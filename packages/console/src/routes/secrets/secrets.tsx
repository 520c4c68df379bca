import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { AgentFilter } from "../../lists/agent-filter.tsx";
import { Button } from "../../parts/button.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { FilterBar } from "../../parts/filters.tsx";
import { Page } from "../../parts/page.tsx";
import { useCan, useMe } from "../../session/session.ts";
import { CreateSecretDialog } from "./secrets/create-secret-dialog.tsx";
import { SecretsOfAgent, SecretsOfOrganisation } from "./secrets/secret-sections.tsx";

/** The secrets that agents send to tools and models, by name: those of the organisation, and those of one agent, which take precedence. */
export function Secrets() {
  const { agent: chosen } = useSearch({ from: "/signed-in/secrets" });
  const onlyAgent = useMe().key.agent_id;
  const agent = onlyAgent ?? chosen;
  const [isCreating, setIsCreating] = useState(false);
  const change = useSearchChange<{ agent: string | undefined }>();
  return (
    <Page
      title="Secrets"
      actions={
        useCan("manage") && (
          <Button kind="primary" onClick={() => setIsCreating(true)}>
            Create secret
          </Button>
        )
      }
      below={
        onlyAgent === null && (
          <FilterBar count={chosen === undefined ? 0 : 1} onClear={() => change({ agent: undefined })}>
            <AgentFilter value={chosen} onChange={(next) => change({ agent: next })} />
          </FilterBar>
        )
      }
    >
      {agent === undefined ? (
        <SecretsOfOrganisation />
      ) : (
        <SecretsOfAgent key={agent} agent={agent} withOrganisation={onlyAgent === null} />
      )}
      <CreateSecretDialog
        open={isCreating}
        onClose={() => setIsCreating(false)}
        agent={agent}
        isOnlyAgent={onlyAgent !== null}
      />
    </Page>
  );
}
