import { auditedOperations } from "./generated-operations.ts";

/** What the audit log calls its operations, so that the filter suggests none that no entry can have: `spec/audit-operations.test.ts` compares. */
export const knownOperations: readonly string[] = [
  ...auditedOperations,
  // What Perch does by itself.
  ...["recheckPerson", "rollBackCanary"],
  // Commands of operators.
  ...["begin-mfa", "create-key", "create-organisation", "reset-agent-security", "set-organisation", "set-tier"],
].toSorted((one, other) => one.localeCompare(other));
