import { useSearch } from "@tanstack/react-router";
import { useSearchChange } from "../parts/change-search.ts";
import type { FrameSearch } from "./search.ts";

/** What the top bar chooses, and how to change it: the page stays, its address changes. */
export const useFrameSearch = () => [useSearch({ from: "/signed-in" }), useSearchChange<FrameSearch>()] as const;
