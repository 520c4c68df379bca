import type { Connection } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { connectionQuery, connectionsChanged } from "../../api/connections-queries.ts";
import { isNotFound } from "../../api/is-not-found.ts";
import { perch } from "../../api/perch.ts";
import { Button } from "../../parts/button.tsx";
import { keepSearch } from "../../parts/change-search.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { Working } from "../../parts/working.tsx";
import { useCan } from "../../session/session.ts";
import { ConnectionFacts } from "./connection/connection-facts.tsx";
import { CreateLinkDialog } from "./create-link-dialog.tsx";

const NoConnection = ({ id }: { readonly id: string }) => (
  <EmptyState title="There is no such connection">
    <p>
      No connection <OutsideText text={id} className="font-mono text-table" /> of this agent can be reached. One that
      was revoked is kept for 30 days; or the id belongs to another agent.
    </p>
  </EmptyState>
);

interface ActionsProps {
  readonly agent: string;
  readonly connection: Connection;
}

function Actions({ agent, connection }: ActionsProps) {
  const [open, setOpen] = useState<"link" | "revoke">();
  const close = () => setOpen(undefined);
  const { user_id: user, tool } = connection;
  if (!useCan("write")) return null;
  return (
    <>
      <Button onClick={() => setOpen("link")}>Create new link</Button>
      {connection.status !== "revoked" && (
        <Button kind="danger" onClick={() => setOpen("revoke")}>
          Revoke connection
        </Button>
      )}
      <CreateLinkDialog open={open === "link"} onClose={close} agent={agent} user={user} tool={tool} />
      <ConfirmDialog
        open={open === "revoke"}
        onClose={close}
        title="Revoke connection"
        description={`No run uses the account that ${visibleText(user)} connected with ${visibleText(tool)} any more, and the provider is asked to revoke its tokens. Runs go on without it; the user needs a new link to connect again.`}
        action="Revoke connection"
        kind="danger"
        onConfirm={async () => {
          await perch.connections.revoke(agent, connection.id);
          await connectionsChanged();
        }}
      />
    </>
  );
}

/** One account of a user: its scopes, the hosts that get its tokens, and its state. */
export function ConnectionPage() {
  const { agent, connection: id } = useParams({ from: "/signed-in/connections/$agent/$connection" });
  const navigate = useNavigate();
  const { data: connection, error, refetch } = useQuery(connectionQuery(agent, id));
  const isMissing = isNotFound(error);
  const close = () =>
    void navigate({
      to: "/connections",
      search: keepSearch({ agent }),
      resetScroll: false,
    });
  return (
    <DetailPane
      what="the connection"
      title={connection ? <OutsideText text={connection.user_id} /> : "Connection"}
      actions={connection && <Actions key={id} agent={agent} connection={connection} />}
      onClose={close}
    >
      {connection && <ConnectionFacts agent={agent} connection={connection} />}
      {!connection && !error && <Working what="the connection" />}
      {isMissing && <NoConnection id={id} />}
      {error && !isMissing && <ErrorNote error={error} onRetry={() => void refetch()} />}
    </DetailPane>
  );
}
