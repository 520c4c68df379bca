import type { RequirementTable } from "./requirement.ts";

export const authentication = {
  "auth.bearer-header": {
    section: "Authentication",
    given: "Every endpoint needs an API key in the header `Authorization: Bearer <API_KEY>`.",
  },
  "auth.missing-key-401": {
    section: "Authentication",
    given: "A missing key yields 401 `unauthorized`.",
  },
  "auth.invalid-key-401": {
    section: "Authentication",
    given: "An invalid key yields 401 `unauthorized`.",
  },
  "auth.permission-403": {
    section: "Authentication",
    given: "A key without sufficient permission yields 403 `forbidden`.",
  },
  "auth.other-organisation-404": {
    section: "Authentication",
    silent: "The answer for a resource of another organisation: not shown.",
    decision: "404 `not_found`, the same as for one that does not exist; lists leave it out.",
  },
  "auth.other-agent-404": {
    section: "Authentication",
    silent: "The answer for an agent other than the one a key was made for: not shown.",
    decision: "404 `not_found`, the same as for one that does not exist; lists leave it out.",
  },
  "permissions.names": {
    section: "Authentication",
    given: "The permissions are read, write, delete, manage.",
  },
  "permissions.roles": {
    section: "Authentication",
    given: "admin = read, write, delete, manage; developer = read, write; viewer = read.",
  },
  "permissions.agents": {
    section: "Authentication",
    silent: "Which permission the agent operations need: not shown.",
    decision: "List and get need read; create, update, pause and resume need write; delete needs delete.",
  },
  "permissions.keys": {
    section: "Authentication",
    silent: "Which permission the key operations need: not shown.",
    decision: "All of them need manage, except revoking a leaked key, which needs no other key than the leaked one.",
  },
  "permissions.security-settings": {
    section: "Authentication",
    silent: "Which permission changing an agent's security settings needs: not shown.",
    decision: "manage, besides the write that changing an agent needs.",
  },
  "permissions.invoke": {
    section: "Authentication",
    silent: "Which permission Invoke Agent needs: not shown.",
    decision:
      "`invoke`, which `write` includes. A key with `invoke` alone also reads, follows and cancels the runs that it started itself, without their log, and nothing else.",
  },
  "permissions.deployments": {
    section: "Authentication",
    silent: "Which permission the deployment operations need: not shown.",
    decision: "List needs read; create and roll back need write.",
  },
  "permissions.logs-and-metrics": {
    section: "Authentication",
    silent: "Which permission Get Logs and Get Metrics need: not shown.",
    decision: "read.",
  },
  "permissions.memory": {
    section: "Authentication",
    silent: "Which permission the memory operations need: not shown.",
    decision: "Search needs read, although it is a POST; clear needs delete.",
  },
  "permissions.webhooks": {
    section: "Authentication",
    silent: "Which permission the webhook operations need: not shown.",
    decision: "List needs read, create needs write, delete needs delete.",
  },
} as const satisfies RequirementTable;
