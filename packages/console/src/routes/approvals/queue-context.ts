import { createContext } from "react";

/** How the page of one approval moves through the list that it is beside. */
export interface Queue {
  readonly open: (id: string) => void;
  readonly close: () => void;
  /**
   * Opens the next open approval after a decision, unless the approver has moved on meanwhile. Without a next one, the list shows that it
   * is empty.
   */
  readonly openNext: (decided: string) => void;
}

export const QueueContext = createContext<Queue>({
  open: () => undefined,
  close: () => undefined,
  openNext: () => undefined,
});
