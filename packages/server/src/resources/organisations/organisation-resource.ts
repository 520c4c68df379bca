import type { Resource } from "../resource.ts";

/** Operators create them: see the commands. */
export const organisationResource = {
  name: "organisations",
  tables: { organisations: { bound: "fixed" } },
} as const satisfies Resource;
