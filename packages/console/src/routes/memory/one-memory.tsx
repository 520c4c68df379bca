import type { Memory } from "@perch/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { isNotFound } from "../../api/is-not-found.ts";
import { memoryQuery } from "../../api/memory-queries.ts";
import { perch } from "../../api/perch.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { keepSearch } from "../../parts/change-search.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ContentView } from "../../parts/content-view.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { IdText } from "../../parts/id-text.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { textLinkClass } from "../../parts/text-link.ts";
import { Working } from "../../parts/working.tsx";
import { useCan } from "../../session/session.ts";

const MemoryFacts = ({ agent, memory }: { readonly agent: string; readonly memory: Memory }) => (
  <Facts>
    <Fact name="User">
      {memory.user_id === null ? (
        "none: recalled for all users"
      ) : (
        <Link to="/memory" search={{ agent, user: memory.user_id }} className={textLinkClass}>
          <OutsideText text={memory.user_id} />
        </Link>
      )}
    </Fact>
    {memory.session_id !== null && (
      <Fact name="Session">
        <Link to="/memory" search={{ agent, session: memory.session_id }} className={textLinkClass}>
          <OutsideText text={memory.session_id} />
        </Link>
      </Fact>
    )}
    <Fact name="From">
      {memory.source_request_id === null ? (
        "the API"
      ) : (
        <Link to="/runs/$agent/$run" params={{ agent, run: memory.source_request_id }} className={textLinkClass}>
          <code className="font-mono text-small [overflow-wrap:anywhere]">{memory.source_request_id}</code>
        </Link>
      )}
    </Fact>
    <Fact name="Stored">
      <Ago at={memory.updated_at} />
    </Fact>
    {memory.created_at !== memory.updated_at && (
      <Fact name="First stored">
        <Ago at={memory.created_at} />
      </Fact>
    )}
  </Facts>
);

interface DeleteMemoryProps {
  readonly agent: string;
  readonly id: string;
  readonly onDeleted: () => void;
}

function DeleteMemory({ agent, id, onDeleted }: DeleteMemoryProps) {
  const [isOpen, setIsOpen] = useState(false);
  const queryClient = useQueryClient();
  return (
    <>
      <Button kind="danger" onClick={() => setIsOpen(true)}>
        Delete memory
      </Button>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        title="Delete this memory"
        description="The agent does not recall it in any run that starts from now on. This cannot be undone."
        action="Delete memory"
        kind="danger"
        onConfirm={async () => {
          await perch.memory.delete(agent, id);
          onDeleted();
          queryClient.removeQueries({ queryKey: memoryQuery(agent, id).queryKey });
          await queryClient.invalidateQueries({ queryKey: ["memory", agent] });
        }}
      />
    </>
  );
}

/** One memory: its text, its user, and its origin. */
export function OneMemory() {
  const { agent, memory: id } = useParams({ from: "/signed-in/memory/$agent/$memory" });
  const navigate = useNavigate();
  const { data: memory, error, refetch } = useQuery(memoryQuery(agent, id));
  const close = () => void navigate({ to: "/memory", search: keepSearch({ agent }), resetScroll: false });
  const isMissing = isNotFound(error);
  const canDelete = useCan("delete");
  return (
    <DetailPane
      title={
        <span className="flex flex-wrap items-center gap-x-2">
          Memory <IdText id={id} what="the id of the memory" />
        </span>
      }
      what="the memory"
      onClose={close}
      actions={memory && canDelete && <DeleteMemory agent={agent} id={id} onDeleted={close} />}
    >
      <div className="flex flex-col gap-3">
        {memory && (
          <>
            <MemoryFacts agent={agent} memory={memory} />
            <ContentView title="Content" what="the content" value={memory.content} />
            {Object.keys(memory.metadata).length > 0 && (
              <ContentView title="Metadata" what="the metadata" value={memory.metadata} />
            )}
          </>
        )}
        {!memory && !error && <Working what="the memory" />}
        {isMissing && (
          <EmptyState title="There is no such memory">
            <p>
              This agent has no memory <OutsideText text={id} className="font-mono text-table" />. It may have been
              deleted or cleared, or pushed out by newer ones.
            </p>
          </EmptyState>
        )}
        {error && !isMissing && <ErrorNote error={error} onRetry={() => void refetch()} />}
      </div>
    </DetailPane>
  );
}
