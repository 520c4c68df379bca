import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { agentQuery } from "../../api/agents-queries.ts";
import { activeDeploymentsQuery } from "../../api/deployments-queries.ts";
import { versionsQuery } from "../../api/versions-queries.ts";
import { Button } from "../../parts/button.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { DeployDialog } from "./deploy/deploy-dialog.tsx";
import { servedEnvironments } from "./live-deployments.ts";
import { Comparison } from "./versions/comparison.tsx";
import { VersionDefinition } from "./versions/version-definition.tsx";
import { VersionTable } from "./versions/version-table.tsx";

const route = getRouteApi("/signed-in/agents/$agent/versions");

/** The deployed versions: their creators, where each is live, and the differences between any two. */
export function Versions() {
  const { agent: ref } = route.useParams();
  const { from, shown } = route.useSearch();
  const { data: agent } = useSuspenseQuery(agentQuery(ref));
  const { data: active } = useSuspenseQuery(activeDeploymentsQuery(ref));
  const versions = useSuspenseInfiniteQuery(versionsQuery(ref));
  const [deployed, setDeployed] = useState<string>();
  const all = versions.data.pages.flatMap(({ data }) => data);
  if (all.length === 0)
    return (
      <EmptyState title="No versions yet">
        <p className="text-muted">
          A version is the draft as it was when it was deployed. It never changes, so it can be deployed again at any
          time. Deploy the agent to make the first.
        </p>
      </EmptyState>
    );
  return (
    <div className="grid lg:h-full lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <div className="min-w-0 overflow-auto border-line max-lg:border-b lg:border-r">
        <VersionTable
          agent={agent}
          versions={all}
          served={servedEnvironments(active)}
          onDeploy={(version) => setDeployed(version)}
        />
        {versions.hasNextPage && (
          <div className="p-4">
            <Button working={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
              Show older versions
            </Button>
          </div>
        )}
      </div>
      <div className="min-w-0 overflow-auto">
        {shown === undefined ? (
          <Comparison
            key={from}
            agentRef={ref}
            labels={all.map(({ version }) => version)}
            live={servedEnvironments(active)[0]?.live?.version}
          />
        ) : (
          <VersionDefinition agentRef={ref} version={shown} />
        )}
      </div>
      <DeployDialog
        agent={agent}
        open={deployed !== undefined}
        onClose={() => setDeployed(undefined)}
        version={deployed}
      />
    </div>
  );
}
