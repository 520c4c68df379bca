import { useSyncExternalStore } from "react";

/** From this width on a detail stands beside its list; on narrower screens it covers the list. */
export const besideList = "(min-width: 1024px)";

/** Whether a media query matches now, such as `(min-width: 1024px)`. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const media = matchMedia(query);
      media.addEventListener("change", onChange);
      return () => media.removeEventListener("change", onChange);
    },
    () => matchMedia(query).matches,
  );
}
