import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { webhooksQuery } from "../../api/webhooks-queries.ts";
import { AgentFilter } from "../../lists/agent-filter.tsx";
import { PagedList } from "../../lists/paged-list.tsx";
import { Button } from "../../parts/button.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { FilterBar, SelectFilter } from "../../parts/filters.tsx";
import { Page } from "../../parts/page.tsx";
import { useCan } from "../../session/session.ts";
import { CreateDialog } from "./form/create-dialog.tsx";
import { NoWebhooks } from "./list/no-webhooks.tsx";
import { WebhookTable } from "./list/webhook-table.tsx";
import { WebhookTabs } from "./webhook-tabs.tsx";

const statuses = ["enabled", "disabled"] as const;

function CreateWebhook() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setIsOpen(true)}>
        Create webhook
      </Button>
      <CreateDialog open={isOpen} onClose={() => setIsOpen(false)} />
    </>
  );
}

/** The webhooks, and whether their receivers accept deliveries. */
export function Webhooks() {
  const { agent, status } = useSearch({ from: "/signed-in/webhooks" });
  const query = useInfiniteQuery(webhooksQuery({ agent_id: agent, status: statuses.find((each) => each === status) }));
  const change = useSearchChange<{ readonly agent?: string | undefined; readonly status?: string | undefined }>();
  const count = [agent, status].filter(Boolean).length;
  return (
    <Page
      title="Webhooks"
      actions={useCan("write") && <CreateWebhook />}
      below={
        <>
          <FilterBar count={count} onClear={() => change({ agent: undefined, status: undefined })}>
            <AgentFilter value={agent} onChange={(chosen) => change({ agent: chosen })} />
            <SelectFilter
              label="Status"
              any="Any status"
              value={status}
              onChange={(chosen) => change({ status: chosen })}
              options={statuses}
            />
          </FilterBar>
          <WebhookTabs />
        </>
      }
    >
      <PagedList query={query} what="webhooks" empty={<NoWebhooks isFiltered={count > 0} />}>
        {(webhooks) => <WebhookTable webhooks={webhooks} />}
      </PagedList>
    </Page>
  );
}
