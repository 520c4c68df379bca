import { useSearch } from "@tanstack/react-router";
import { useSearchChange } from "../parts/change-search.ts";
import type { FrameSearch } from "./search.ts";

/** The filters of the top bar, and a function that changes them in the address of the current page. */
export const useFrameSearch = () => [useSearch({ from: "/signed-in" }), useSearchChange<FrameSearch>()] as const;
