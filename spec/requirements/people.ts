import type { RequirementTable } from "./requirement.ts";

const section = "Authentication";

/** How people sign in to the console by an OpenID Connect issuer. The specification mentions only API keys. */
export const people = {
  "console.person-sign-in": {
    section,
    silent: "How a person signs in: not shown.",
    decision:
      "By the installation's OpenID Connect issuer (`PERCH_OIDC`), with the code flow and PKCE: `/console/oidc/start` leads there, `/console/oidc/callback` makes the session. GET `/v1/console/sign-in-methods` says whether there is one.",
  },
  "console.person-role": {
    section,
    silent: "What a person may do: not shown.",
    decision:
      "Groups map to an organisation and a role by a setting. In several groups of one organisation, the strongest role counts; a person without a mapped group is refused.",
  },
  "console.person-approves": {
    section,
    silent: "Whether a person may decide about approvals: not shown.",
    decision:
      "If a group of the person says so for the organisation (`approve: true`), whatever the role. One person is one voter in all sessions, and another than any key. Losing the group takes it away with the next check.",
  },
  "console.person-organisations": {
    section,
    silent: "A person in several organisations: not shown.",
    decision:
      "A session is for one of them: the one that `organisation` names at the start, or the first that is mapped. GET `/v1/me` lists all.",
  },
  "console.person-audited": {
    section,
    silent: "The recorded actor if a person acts: not shown.",
    decision:
      "The audit log has `person` as the actor, with the id at the issuer and any verified email address, and the session.",
  },
  "console.person-attacks": {
    section,
    silent: "Attacks on a sign-in: not shown.",
    decision:
      "An answer of the issuer counts once, within 10 minutes, and only in the browser that asked for it. Nothing from outside gets into the console's address.",
  },
  "console.person-recheck": {
    section,
    silent: "A person who leaves a group: not shown.",
    decision:
      "The issuer is asked again when 10 minutes have passed since it last confirmed the groups. A session ends, or changes its role, on every node at once.",
  },
  "console.person-issuer-away": {
    section,
    silent: "An issuer that does not answer: not shown.",
    decision: "Sessions go on for at most 10 more minutes, and requests do not wait for it; then 503 `unavailable`.",
  },
} as const satisfies RequirementTable;
