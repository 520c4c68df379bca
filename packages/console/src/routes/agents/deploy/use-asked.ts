import { useState } from "react";

interface Asked<T> {
  readonly isOpen: boolean;
  /** While the dialog is open, what it was opened with. */
  readonly about: T;
  readonly open: () => void;
  readonly close: () => void;
}

/** What a dialog asks about. The page is read again while somebody reads the sentence: what they confirm is what they have read. */
export function useAsked<T>(current: T): Asked<T> {
  const [asked, setAsked] = useState<{ readonly about: T }>();
  return {
    isOpen: asked !== undefined,
    about: asked ? asked.about : current,
    open: () => setAsked({ about: current }),
    close: () => setAsked(undefined),
  };
}
