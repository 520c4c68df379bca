import { useNavigate, useSearch } from "@tanstack/react-router";
import type { FrameSearch } from "./search.ts";

/** What the top bar chooses, and how to change it: the page stays, its address changes. */
export function useFrameSearch(): readonly [FrameSearch, (change: FrameSearch) => void] {
  const search = useSearch({ from: "/signed-in" });
  const navigate = useNavigate();
  const change = (next: FrameSearch) =>
    void navigate({ to: ".", search: (previous: object) => ({ ...previous, ...next }) as never });
  return [search, change];
}
