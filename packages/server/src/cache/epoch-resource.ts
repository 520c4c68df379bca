import type { Tables } from "../db/tables.ts";
import type { OrganisationChanges } from "./organisation-changes.ts";

/** Changes whose epoch was not replaced yet. */
export const epochResource = {
  name: "epochs",
  tables: { epoch_changes: { bound: "handled" } } satisfies Tables,
  sweeps: ({ changes }: { readonly changes: Pick<OrganisationChanges, "repair"> }) => [
    { name: "replace epochs", everySeconds: 1, run: changes.repair },
  ],
} as const;
