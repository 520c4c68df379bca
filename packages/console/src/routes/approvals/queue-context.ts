import { createContext } from "react";

/** How the page of one approval moves through the list that it is beside. */
export interface Queue {
  readonly open: (id: string) => void;
  readonly close: () => void;
  /** To the next that is open, after this one was decided. Whoever has gone on meanwhile stays. Without one, the list says so. */
  readonly openNext: (decided: string) => void;
}

export const QueueContext = createContext<Queue>({
  open: () => undefined,
  close: () => undefined,
  openNext: () => undefined,
});
