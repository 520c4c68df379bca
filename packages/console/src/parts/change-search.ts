import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * For a link, or a way to another page: what the address searches for stays, but for these changes. A page is often beside another one
 * whose search it does not know, so the router has no type for the two.
 */
export const keepSearch = (changes: object = {}) => ((before: object) => ({ ...before, ...changes })) as never;

type Options = Pick<NavigateOptions, "to" | "replace" | "resetScroll">;

/** Changes what the address searches for. The page stays, unless another one is named. */
export function useSearchChange<Changes extends object = object>(): (changes: Changes, options?: Options) => void {
  const navigate = useNavigate();
  return useCallback(
    (changes, options) => void navigate({ to: ".", ...options, search: keepSearch(changes) }),
    [navigate],
  );
}
