import { useSyncExternalStore } from "react";

const narrow = matchMedia("(max-width: 767px)");

const subscribe = (listen: () => void) => {
  narrow.addEventListener("change", listen);
  return () => narrow.removeEventListener("change", listen);
};

/** A phone, or a window as narrow as one: for what cannot be said in CSS, such as the height of virtual rows. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);
