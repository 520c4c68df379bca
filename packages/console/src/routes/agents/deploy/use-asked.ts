import { useState } from "react";

interface Asked<T> {
  readonly isOpen: boolean;
  /** While the dialog is open, the value that it was opened with. */
  readonly about: T;
  readonly open: () => void;
  readonly close: () => void;
}

/** Freezes the subject of a dialog. The page refreshes while the dialog is open, and the user must confirm exactly what they have read. */
export function useAsked<T>(current: T): Asked<T> {
  const [asked, setAsked] = useState<{ readonly about: T }>();
  return {
    isOpen: asked !== undefined,
    about: asked ? asked.about : current,
    open: () => setAsked({ about: current }),
    close: () => setAsked(undefined),
  };
}
