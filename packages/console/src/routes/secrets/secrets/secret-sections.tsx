import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import { isNotFound } from "../../../api/is-not-found.ts";
import { secretListQuery } from "../../../api/secrets-queries.ts";
import { NoSuchAgent } from "../../../lists/no-such-agent.tsx";
import { PagedList } from "../../../lists/paged-list.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { SecretTable } from "./secret-table.tsx";

const command = "perch secrets set tracker_key --host tracker.example";

const NoSecrets = () => (
  <EmptyState title="No secrets yet">
    <p>
      A secret is a key or a token that agents send to a tool or a model, and only to the hosts that you name. A
      definition refers to it as <code className="font-mono text-table">{"{{secret.tracker_key}}"}</code>; nobody can
      read it back. Create one here, or with:
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

interface SectionProps {
  readonly title: ReactNode;
  readonly hint: string;
  readonly children: ReactNode;
}

const Section = ({ title, hint, children }: SectionProps) => {
  const id = useId();
  return (
    <section aria-labelledby={id} className="pt-4">
      <h2 id={id} className="px-4 text-body">
        {title}
      </h2>
      <p className="max-w-3xl px-4 pb-2 text-muted text-table">{hint}</p>
      {children}
    </section>
  );
};

const None = ({ children }: { readonly children: ReactNode }) => (
  <p className="border-line border-t px-4 py-3 text-muted text-table">{children}</p>
);

function OwnSecrets({ agent }: { readonly agent: string }) {
  const query = useInfiniteQuery(secretListQuery(agent));
  if (isNotFound(query.error)) return <NoSuchAgent agent={agent} />;
  return (
    <PagedList query={query} what="secrets" empty={<None>This agent has no secrets of its own.</None>}>
      {(secrets) => <SecretTable owner={agent} secrets={secrets} caption="Secrets of the agent" />}
    </PagedList>
  );
}

function SharedSecrets({ agent }: { readonly agent: string }) {
  const own = useInfiniteQuery(secretListQuery(agent));
  const names = new Set(own.data?.pages.flatMap(({ data }) => data.map(({ name }) => name)));
  const query = useInfiniteQuery(secretListQuery(undefined));
  return (
    <PagedList query={query} what="secrets" empty={<None>The organisation has no secrets.</None>}>
      {(secrets) => (
        <SecretTable owner={undefined} secrets={secrets} caption="Secrets of the organisation" replaced={names} />
      )}
    </PagedList>
  );
}

interface SecretsOfAgentProps {
  readonly agent: string;
  /** A key of one agent does not see the others'. */
  readonly withOrganisation: boolean;
}

export const SecretsOfAgent = ({ agent, withOrganisation }: SecretsOfAgentProps) => (
  <>
    <Section
      title={
        withOrganisation ? (
          <>
            Secrets of <OutsideText text={agent} />
          </>
        ) : (
          "Secrets of your agent"
        )
      }
      hint="For this agent alone. They take precedence over the organisation's secrets of the same names."
    >
      <OwnSecrets agent={agent} />
    </Section>
    {withOrganisation && (
      <Section title="Secrets of the organisation" hint="All agents can use these.">
        <SharedSecrets agent={agent} />
      </Section>
    )}
  </>
);
