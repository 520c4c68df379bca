import type { Resource } from "../resource.ts";
import { organisationHandlers } from "./organisation-handlers.ts";

/** Operators create and erase them: see the commands. */
export const organisationResource = {
  name: "organisations",
  handlers: organisationHandlers,
  tables: { organisations: { bound: "fixed" } },
} as const satisfies Resource;
