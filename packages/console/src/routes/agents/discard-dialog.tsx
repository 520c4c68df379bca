import type { ReactNode } from "react";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";

interface DiscardDialogProps {
  readonly open: boolean;
  readonly title: string;
  /** What is lost. */
  readonly description: ReactNode;
  /** "Stay on this page" */
  readonly keep: string;
  readonly onKeep: () => void;
  /** "Discard changes and leave" */
  readonly discard: string;
  readonly onDiscard: () => void;
}

/** Asks before something typed is lost. The focus begins on what keeps it, so that a hasty Enter loses nothing. */
export const DiscardDialog = ({ open, title, description, keep, onKeep, discard, onDiscard }: DiscardDialogProps) => (
  <Dialog open={open} onClose={onKeep} title={title} description={description}>
    <div className="flex flex-wrap justify-end gap-2">
      <Button kind="primary" onClick={onKeep}>
        {keep}
      </Button>
      <Button kind="danger" onClick={onDiscard}>
        {discard}
      </Button>
    </div>
  </Dialog>
);
