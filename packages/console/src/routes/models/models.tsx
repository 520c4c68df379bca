import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { modelListQuery, providerListQuery } from "../../api/providers-queries.ts";
import { PagedList } from "../../lists/paged-list.tsx";
import { Button } from "../../parts/button.tsx";
import { ListSection, NoRows } from "../../parts/list-section.tsx";
import { Page } from "../../parts/page.tsx";
import { useCan, useMe } from "../../session/session.ts";
import { CreateProviderDialog } from "./models/create-provider-dialog.tsx";
import { ModelTable } from "./models/model-table.tsx";
import { ProviderTable } from "./models/provider-table.tsx";

function Providers() {
  const query = useInfiniteQuery(providerListQuery);
  return (
    <ListSection
      title="Providers of the organisation"
      hint="Services that run models, with your own keys. They take precedence over providers of the installation with the same name."
    >
      <PagedList
        query={query}
        what="providers"
        empty={<NoRows>There are none yet. Create one to use models with your own key, or on your own server.</NoRows>}
      >
        {(providers) => <ProviderTable providers={providers} />}
      </PagedList>
    </ListSection>
  );
}

function ModelList() {
  const query = useInfiniteQuery(modelListQuery);
  return (
    <ListSection
      title="Models that agents can use"
      hint="The values for an agent's model. Those that are built into Perch or come from the installation cannot be changed here."
    >
      <PagedList query={query} what="models" empty={<NoRows>There are none.</NoRows>}>
        {(models) => <ModelTable models={models} />}
      </PagedList>
    </ListSection>
  );
}

/** The models and the providers that they come from. */
export function Models() {
  const [isCreating, setIsCreating] = useState(false);
  // All agents share the providers, and a key of one agent does not see them.
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
