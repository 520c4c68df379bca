import type { RequirementTable } from "./requirement.ts";

export const keys = {
  "keys.create-fields": {
    section: "Resources and their fields",
    given:
      "Create API Key takes agent_id (string), name (string) and permissions (array of permission names, such as read and write).",
  },
  "keys.agent-id-optional": {
    section: "Resources and their fields",
    silent: "Whether agent_id is required, and what it does: not shown.",
    decision:
      "It is optional, and an id or a name. A key with an agent can access only that agent; without, all agents of its organisation.",
  },
  "keys.record-fields": {
    section: "Resources and their fields",
    silent: "The fields of a key record: not shown.",
    decision:
      "id (a TypeID with the prefix `key_`), name, agent_id, role, permissions, prefix, status (active, expired or revoked), created_by, rotated_from, created_at, expires_at, last_used_at, revoked_at; never the key itself.",
  },
  "keys.get-one": {
    section: "Endpoints",
    silent: "Whether one key can be read: not shown.",
    decision: "GET `/v1/keys/{key_id}` answers the fields that the list shows, with its `ETag`. It needs manage.",
  },
  "keys.format": {
    section: "Authentication",
    silent: "The format of the key: not shown.",
    decision:
      "`perch_`, 2 characters that name the home cell (`00`), 38 random characters and 6 of a CRC32 checksum, all base62.",
  },
  "keys.secret-shown-once": {
    section: "Authentication",
    silent: "Whether the secret value is returned at creation only: not shown.",
    decision: "It is in the answer of Create API Key, and nowhere after.",
  },
  "keys.secret-not-stored": {
    section: "Authentication",
    silent: "How the secret value is kept: not shown.",
    decision: "It is not: only its HMAC-SHA-256 digest is stored.",
  },
  "keys.role-or-permissions": {
    section: "Authentication",
    silent: "How a role or permission is assigned to a key or user: not shown.",
    decision: "A key is created with either a role or a list of permissions; exactly one of the two.",
  },
  "keys.never-more-than-caller": {
    section: "Authentication",
    silent: "Which permissions a key may hand on: not shown.",
    decision: "Never more than the calling key holds: not in permissions, not in agents, not in time.",
  },
  "keys.expiry": {
    section: "Authentication",
    silent: "Whether keys expire: not shown.",
    decision: "A key may have an expires_at; after it, the key is invalid (401 `unauthorized`).",
  },
  "keys.revoked-at-once": {
    section: "Authentication",
    silent: "When a revoked key stops working: not shown.",
    decision: "On its next request it is invalid (401 `unauthorized`). Revoking twice is the same as once.",
  },
  "keys.command-line": {
    section: "Authentication",
    given: "A command-line tool offers create, list, rotate and revoke for keys.",
  },
  "keys.rotation": {
    section: "Authentication",
    silent: "Rotation through the REST API: not shown.",
    decision: "It exists; the old key goes on working beside the new one for 0 to 7 days, 24 hours unless said.",
  },
} as const satisfies RequirementTable;
