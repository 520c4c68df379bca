import type { RequirementTable } from "./requirement.ts";

const section = "What the service does";

/** Accounts that users connect. The specification does not mention them. */
export const connections = {
  "connections.link": {
    section,
    silent: "How a user lets an agent use an account of theirs: not shown.",
    decision:
      "`POST /v1/agents/{agent_id}/connections` gives a link for one user and one tool. It works once, within ten minutes, and a new one replaces it. Opening it shows a page and changes nothing; only its button leads to the provider.",
  },
  "connections.callback": {
    section,
    silent: "What is valid when the browser returns from the provider: not shown.",
    decision:
      "The state, the browser, the authorization server's own redirect address and its `iss` must be those of this consent. The browser then goes to an address that the definition names exactly, with a code or with `error`. No token exists yet.",
  },
  "connections.confirm": {
    section,
    silent: "Whose account it is: not shown.",
    decision:
      "That of the user for whom the application confirms, which must be the user of the link. With another user it is refused, the link is no longer valid, and no token was fetched. The code works once, for two minutes; the same request again gets the same answer.",
  },
  "connections.states": {
    section,
    silent: "Which states a connection has: not shown.",
    decision:
      "`pending`, `active`, `needs_reauth` and `revoked`. There is one for each user, tool and address that the tool leads to; a new link for one that is active leaves it working until the new consent is confirmed.",
  },
  "connections.own-user": {
    section,
    silent: "Which account a run uses: not shown.",
    decision:
      "That of its own `user_id`, of its agent and of the tool it calls, and no other, ever. Tokens are sealed for these and for the address that they are for. Where agents have `auth`, a user reaches only connections of that user.",
  },
  "connections.not-connected": {
    section,
    silent: "What a run does whose user has not connected an account, or has no user: not shown.",
    decision:
      "It goes on. The call fails, the model is told that the user must connect, and the reason names the operation that gives a link.",
  },
  "connections.refresh": {
    section,
    silent: "When tokens are refreshed: not shown.",
    decision:
      "When a run uses one within five minutes of its end, by one worker at a time. An expired token is never sent. While the provider does not answer, runs wait or fail with that reason, and recover by themselves.",
  },
  "connections.needs-reauth": {
    section,
    silent: "What happens when a provider withdraws its consent: not shown.",
    decision:
      "The connection is `needs_reauth` with a reason, the event `connection.needs_reauth` is delivered, the call fails with how to get a new link, and the model is told that the user must reconnect. One new link mends it.",
  },
  "connections.revoke": {
    section,
    silent: "How a connection ends: not shown.",
    decision:
      "`revoke` ends its use at once and tells the provider, for a day if it does not answer. Revoked ones are listed for 30 days. Erasing the user and deleting the agent delete connections.",
  },
  "connections.agent-account": {
    section,
    silent: "Whether an agent can have an account of its own at a tool: not shown.",
    decision: "With `account: agent`, by client credentials. The tokens are stored nowhere.",
  },
  "connections.discovery": {
    section,
    silent: "How the authorization server of a tool is found, and who Perch is there: not shown.",
    decision:
      "By the definition's `issuer`, else by the protected-resource metadata of the tool's own origin. Perch is the configured client, else a client id metadata document, else registers itself; otherwise the refusal says what to register. Servers without PKCE S256 are refused.",
  },
  "connections.idle": {
    section,
    silent: "The cost of an unused connection: not shown.",
    decision: "A row. There are no timers, no calls and no sweeps for connections that are in order.",
  },
  "connections.no-tokens-shown": {
    section,
    silent: "Where tokens of users can be read: not shown.",
    decision:
      "Nowhere: they are sealed in the database, and in no answer, log, event, journal, stream, trace, error or cache. What a tool answers has them redacted.",
  },
} as const satisfies RequirementTable;
