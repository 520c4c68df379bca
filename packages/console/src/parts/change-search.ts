import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * The search of a link to another page: the current one with these changes. A page often stands beside another one whose search it does not
 * know, so the router has no type for the two.
 */
export const keepSearch = (changes: object = {}) => ((before: object) => ({ ...before, ...changes })) as never;

type Options = Pick<NavigateOptions, "to" | "replace" | "resetScroll">;

/** Changes the search of the address. The page stays, unless another one is named. */
export function useSearchChange<Changes extends object = object>(): (changes: Changes, options?: Options) => void {
  const navigate = useNavigate();
  return useCallback(
    (changes, options) => void navigate({ to: ".", ...options, search: keepSearch(changes) }),
    [navigate],
  );
}
