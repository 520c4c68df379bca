import { useInfiniteQuery } from "@tanstack/react-query";
import { isNotFound } from "../../../api/is-not-found.ts";
import { secretListQuery } from "../../../api/secrets-queries.ts";
import { NoSuchAgent } from "../../../lists/no-such-agent.tsx";
import { PagedList } from "../../../lists/paged-list.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { ListSection, NoRows } from "../../../parts/list-section.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { SecretTable } from "./secret-table.tsx";

const command = "perch secrets set tracker_key --host tracker.example";

const NoSecrets = () => (
  <EmptyState title="No secrets yet">
    <p>
      A secret is a key or a token that agents send to a tool or a model, and only to the hosts that you name. A
      definition refers to it as <code className="font-mono text-table">{"{{secret.tracker_key}}"}</code>; its value is
      never shown again. Create one here, or with:
    </p>
    <p className="flex items-center gap-1 rounded border border-line bg-sunken px-3 py-1.5">
      <code className="min-w-0 flex-1 truncate font-mono text-small">{command}</code>
      <CopyButton text={command} what="the command" />
    </p>
  </EmptyState>
);

export function SecretsOfOrganisation() {
  const query = useInfiniteQuery(secretListQuery(undefined));
  return (
    <PagedList query={query} what="secrets" empty={<NoSecrets />}>
      {(secrets) => <SecretTable owner={undefined} secrets={secrets} caption="Secrets of the organisation" />}
    </PagedList>
  );
}

function OwnSecrets({ agent }: { readonly agent: string }) {
  const query = useInfiniteQuery(secretListQuery(agent));
  if (isNotFound(query.error)) return <NoSuchAgent agent={agent} />;
  return (
    <PagedList query={query} what="secrets" empty={<NoRows>This agent has no secrets of its own.</NoRows>}>
      {(secrets) => <SecretTable owner={agent} secrets={secrets} caption="Secrets of the agent" />}
    </PagedList>
  );
}

function SharedSecrets({ agent }: { readonly agent: string }) {
  const own = useInfiniteQuery(secretListQuery(agent));
  const names = new Set(own.data?.pages.flatMap(({ data }) => data.map(({ name }) => name)));
  const query = useInfiniteQuery(secretListQuery(undefined));
  return (
    <PagedList query={query} what="secrets" empty={<NoRows>The organisation has no secrets.</NoRows>}>
      {(secrets) => (
        <SecretTable owner={undefined} secrets={secrets} caption="Secrets of the organisation" replaced={names} />
      )}
    </PagedList>
  );
}

interface SecretsOfAgentProps {
  readonly agent: string;
  /** False for a key of one agent, which does not see the organisation's secrets. */
  readonly withOrganisation: boolean;
}

export const SecretsOfAgent = ({ agent, withOrganisation }: SecretsOfAgentProps) => (
  <>
    <ListSection
      title={
        withOrganisation ? (
          <>
            Secrets of <OutsideText text={agent} />
          </>
        ) : (
          "Secrets of your agent"
        )
      }
      hint="For this agent only. They take precedence over the organisation's secrets of the same names."
    >
      <OwnSecrets agent={agent} />
    </ListSection>
    {withOrganisation && (
      <ListSection title="Secrets of the organisation" hint="All agents can use these.">
        <SharedSecrets agent={agent} />
      </ListSection>
    )}
  </>
);
