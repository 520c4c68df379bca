import { keysChanged } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { leaveAfterRevokingOwnKey } from "../../../session/leave.ts";
import { useMe } from "../../../session/session.ts";
import type { KeyDialogProps } from "./key-dialog.ts";

/** A user who revokes the key of their own session is warned before, and then sees the sign-in page. */
export function RevokeKeyDialog({ apiKey, ...dialog }: KeyDialogProps) {
  const isMine = useMe().key.id === apiKey.id;
  return (
    <ConfirmDialog
      {...dialog}
      title={`Revoke ${visibleText(apiKey.name)}`}
      description={
        <>
          Every request with this key is refused from now on, and browsers that are signed in with it are signed out.
          Runs that it started go on. This cannot be undone.
          {isMine && (
            <strong className="mt-2 block text-danger">
              It is the key that you are signed in with: you will be signed out, and need another key to come back.
            </strong>
          )}
        </>
      }
      action="Revoke key"
      kind="danger"
      onConfirm={async () => {
        await perch.keys.revoke(apiKey.id);
        if (isMine) leaveAfterRevokingOwnKey();
        else await keysChanged();
      }}
    />
  );
}
