import type { RequirementTable } from "./requirement.ts";

const section = "Authentication";

/** How browsers sign in. The specification mentions only API keys. */
export const consoleSessions = {
  "console.sign-in": {
    section,
    silent: "How a browser authenticates: not shown.",
    decision:
      "POST `/v1/console/sessions` exchanges an API key or a one-time link for a session of 12 hours, whose token is a cookie that scripts cannot read and that only this host gets. `GET /v1/me` shows the session and its `csrf_token`.",
  },
  "console.session-acts-as-key": {
    section,
    silent: "What a session may do: not shown.",
    decision: "What its key may do at that moment, within the same limits. `Authorization` counts before the cookie.",
  },
  "console.session-ends-with-key": {
    section,
    silent: "How long a session lasts: not shown.",
    decision:
      "12 hours, whether or not it is used, and never longer than its key: it ends when the key is revoked or expires.",
  },
  "console.csrf": {
    section,
    silent: "Who may use the session of a browser: not shown.",
    decision:
      "Pages of this server's own origin. A change needs the header `X-CSRF-Token`; a request that a page of another origin made is 403, also to sign in. CORS never allows credentials.",
  },
  "console.fixation": {
    section,
    silent: "Whether a session can be chosen for another person: not shown.",
    decision:
      "No. Signing in always makes a new token and ends the session that the browser had; a cookie that another host could have set does not count, nor do two of the same name.",
  },
  "console.plain-http": {
    section,
    silent: "Whether a browser can sign in over plain HTTP: not shown.",
    decision: "On the machine itself. Otherwise the answer is 403 and says how to set up HTTPS.",
  },
  "console.session-quota": {
    section,
    silent: "How many sessions there may be: not shown.",
    decision: "50 of one key or person. The oldest ends when one more begins.",
  },
  "console.link": {
    section,
    silent: "How a command line signs a browser in: not shown.",
    decision:
      "POST `/v1/console/links` answers an address that signs in as the calling key, within 5 minutes. A session cannot make one.",
  },
  "console.link-once": {
    section,
    silent: "How often a link works: not shown.",
    decision: "Once. The database has only a digest of its secret.",
  },
  "console.sessions-listed": {
    section,
    silent: "Who sees which sessions: not shown.",
    decision:
      "GET `/v1/console/sessions` lists those of the calling key or person that have not ended, and with manage those of the organisation, or of the agent that the key belongs to.",
  },
  "console.sessions-ended": {
    section,
    silent: "Who may end a session: not shown.",
    decision: "Every caller who sees it: DELETE `/v1/console/sessions/{session_id}` ends it at once on every node.",
  },
  "console.sign-out": {
    section,
    silent: "How one signs out: not shown.",
    decision: "DELETE `/v1/console/sessions/current` ends the session and makes the browser forget the cookie.",
  },
  "console.audited": {
    section,
    silent: "Whether the audit log shows sessions: not shown.",
    decision:
      "Every entry of a change made in a session names the session, and the person if one signed in. Signing in and out have entries.",
  },
  "console.allowed-hosts": {
    section,
    silent: "For which names a server answers: not shown.",
    decision:
      "For any, unless PERCH_ALLOWED_HOSTS names some: then a request with another `Host` is 403, except for probes. `perch dev` answers only for loopback.",
  },
} as const satisfies RequirementTable;
