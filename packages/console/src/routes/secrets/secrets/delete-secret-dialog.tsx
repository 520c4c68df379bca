import { deleteSecret, type SecretOwner } from "../../../api/secrets-queries.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { visibleText } from "../../../parts/visible-text.ts";

interface DeleteSecretDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly owner: SecretOwner;
  readonly name: string;
}

export const DeleteSecretDialog = ({ owner, name, ...dialog }: DeleteSecretDialogProps) => (
  <ConfirmDialog
    {...dialog}
    title={`Delete ${visibleText(name)}`}
    description={
      owner === undefined
        ? "Its value is gone. Calls to tools and models that refer to it are refused from now on, unless an agent has a secret of its own with this name."
        : "Its value is gone. The agent's calls that refer to it use the organisation's secret of this name if there is one, and are refused otherwise."
    }
    action="Delete secret"
    kind="danger"
    onConfirm={() => deleteSecret(owner, name)}
  />
);
