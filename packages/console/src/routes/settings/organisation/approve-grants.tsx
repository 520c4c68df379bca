import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { forbidApproveGrants, organisationQuery } from "../../../api/organisation-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { useCan, useMe } from "../../../session/session.ts";

const Code = ({ name }: { readonly name: string }) => <code className="font-mono">{name}</code>;

/** Whether `manage` gives `approve`, and the dialog that forbids it. */
export function ApproveGrants() {
  const { key } = useMe();
  const [isOpen, setIsOpen] = useState(false);
  const { data: organisation } = useQuery({ ...organisationQuery, enabled: useCan("read") });
  const canForbid = useCan("manage") && key.agent_id === null;
  if (!organisation) return <span className="text-muted">not known</span>;
  if (!organisation.manage_grants_approve)
    return (
      <>
        given only by those who have it
        <span className="text-muted">; the operator of the installation changes it</span>
      </>
    );
  return (
    <>
      given by everyone with <Code name="manage" />
      {canForbid && (
        <Button kind="danger" className="ml-3" onClick={() => setIsOpen(true)}>
          Forbid
        </Button>
      )}
      <ConfirmDialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        title="Forbid that manage gives approve"
        description={
          <>
            Only keys and people with <Code name="approve" /> can then create, change or rotate keys with it, and
            webhooks with approval links. Keys and webhooks that exist keep what they have. If no key has{" "}
            <Code name="approve" />, only the operator of the installation can make a key with it. Only the operator can
            undo this.
          </>
        }
        action="Forbid it"
        kind="danger"
        onConfirm={forbidApproveGrants}
      />
    </>
  );
}
