import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { modelListQuery, providerListQuery } from "../../api/providers-queries.ts";
import { PagedList } from "../../lists/paged-list.tsx";
import { Button } from "../../parts/button.tsx";
import { Page } from "../../parts/page.tsx";
import { useCan, useMe } from "../../session/session.ts";
import { CreateProviderDialog } from "./models/create-provider-dialog.tsx";
import { ModelTable } from "./models/model-table.tsx";
import { ProviderTable } from "./models/provider-table.tsx";

interface SectionProps {
  readonly title: string;
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

function Providers() {
  const query = useInfiniteQuery(providerListQuery);
  return (
    <Section
      title="Providers of the organisation"
      hint="Where models are called, with keys of your own. One of them takes precedence over a provider of the installation with the same name."
    >
      <PagedList
        query={query}
        what="providers"
        empty={
          <None>There are none yet. Create one to use models with a key of your own, or of a server of your own.</None>
        }
      >
        {(providers) => <ProviderTable providers={providers} />}
      </PagedList>
    </Section>
  );
}

function ModelList() {
  const query = useInfiniteQuery(modelListQuery);
  return (
    <Section
      title="Models that agents can use"
      hint="The value for an agent's model. What is built into Perch or comes from the installation cannot be changed here."
    >
      <PagedList query={query} what="models" empty={<None>There are none.</None>}>
        {(models) => <ModelTable models={models} />}
      </PagedList>
    </Section>
  );
}

/** Which models there are, and where they come from. */
export function Models() {
  const [isCreating, setIsCreating] = useState(false);
  // Providers are shared by all agents, and a key of one agent does not see them.
  const isOfOneAgent = useMe().key.agent_id !== null;
  const mayManage = useCan("manage") && !isOfOneAgent;
  return (
    <Page
      title="Models"
      actions={
        mayManage && (
          <Button kind="primary" onClick={() => setIsCreating(true)}>
            Create provider
          </Button>
        )
      }
    >
      {!isOfOneAgent && <Providers />}
      <ModelList />
      <CreateProviderDialog open={isCreating} onClose={() => setIsCreating(false)} />
    </Page>
  );
}
