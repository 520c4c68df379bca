import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { DialogActions } from "../parts/dialog-actions.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";

interface ShownValueProps {
  readonly what: string;
  readonly value: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** The end of a dialog that made something secret, with `useShownOnce`. */
export function ShownValue({ what, value, onClose, children }: ShownValueProps) {
  return (
    <>
      <ShownOnce what={what} value={value} />
      {children}
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          I have copied {what}
        </Button>
      </DialogActions>
    </>
  );
}
