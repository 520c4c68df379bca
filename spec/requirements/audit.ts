import type { RequirementTable } from "./requirement.ts";

const silent = "Whether changes are recorded: not shown.";

export const audit = {
  "audit.every-change": {
    section: "Authentication",
    silent,
    decision:
      "Every change leaves exactly one entry in the audit log, in the same transaction; a repeated request leaves none. Invoking, cancelling and adding log entries are work of agents and leave none.",
  },
  "audit.entry-fields": {
    section: "Authentication",
    silent,
    decision:
      "An entry has id, created_at, actor, key_id, user_id, operation, resource_type, resource, agent_id, address, correlation_id, outcome and details; never a value that was sent.",
  },
  "audit.append-only": {
    section: "Authentication",
    silent,
    decision:
      "The server's database role can add entries and read them, not change or delete them. The erasure of a user takes the user's id out of entries, by a function that can do nothing else.",
  },
  "audit.filters": {
    section: "Authentication",
    silent,
    decision:
      "GET `/v1/audit-log` needs manage and filters by key_id, operation, resource, outcome, start_time and end_time; newest first, for 400 days.",
  },
  "audit.scope": {
    section: "Authentication",
    silent,
    decision: "A key that belongs to one agent sees the entries of that agent.",
  },
  "audit.refusals": {
    section: "Authentication",
    silent,
    decision: "A change that a known key was refused with 401 or 403 leaves an entry with the outcome refused.",
  },
} as const satisfies RequirementTable;
