import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";

interface SaveDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly agentName: string;
  readonly reasons: readonly string[];
  readonly onConfirm: () => Promise<unknown>;
}

/** Shown before saving settings that would lock out the user. */
export const SaveDialog = ({ reasons, agentName, ...dialog }: SaveDialogProps) => (
  <ConfirmDialog
    {...dialog}
    title={`Lock yourself out of ${agentName}`}
    description={
      <>
        {reasons.map((reason) => (
          <span key={reason} className="mb-1 block font-medium text-text">
            {reason}
          </span>
        ))}
        <span className="block">The operator can undo it with perch-server reset-agent-security.</span>
      </>
    }
    action="Save settings anyway"
    kind="danger"
    typed={agentName}
  />
);
