import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { DialogActions } from "./dialog-actions.tsx";

interface DiscardDialogProps {
  readonly open: boolean;
  readonly title: string;
  /** The work that would be lost. */
  readonly description: ReactNode;
  /** "Stay on this page" */
  readonly keep: string;
  readonly onKeep: () => void;
  /** "Discard changes and leave" */
  readonly discard: string;
  readonly onDiscard: () => void;
}

/** Asks before typed text is lost. The focus begins on the button that stays, so that a hasty Enter loses nothing. */
export const DiscardDialog = ({ open, title, description, keep, onKeep, discard, onDiscard }: DiscardDialogProps) => (
  <Dialog open={open} onClose={onKeep} title={title} description={description}>
    <DialogActions>
      <Button kind="primary" onClick={onKeep}>
        {keep}
      </Button>
      <Button kind="danger" onClick={onDiscard}>
        {discard}
      </Button>
    </DialogActions>
  </Dialog>
);
