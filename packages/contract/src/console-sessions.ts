import { z } from "zod";
import { list, pageQuery, single, Timestamp } from "./envelopes.ts";
import { ConsoleSessionId, KeyId, OrganisationId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { Permission, Role } from "./permissions.ts";

/** How long a session lasts, whether or not it is used. */
export const sessionHours = 12;
/** How long a link can be used. */
export const linkMinutes = 5;

export const SignedInPerson = z
  .object({
    subject: z.string().describe("The person's id at the issuer that signed the person in."),
    name: z.string().nullable(),
    email: z.string().nullable(),
  })
  .meta({ id: "SignedInPerson" });
export type SignedInPerson = z.infer<typeof SignedInPerson>;

export const ConsoleSession = z
  .object({
    id: ConsoleSessionId,
    current: z.boolean().describe("Whether this is the session of the request."),
    key_id: KeyId.nullable().describe("The API key that signed in; null for a person."),
    person: SignedInPerson.nullable().describe("The person who signed in; null for an API key."),
    role: Role.nullable().describe("Role of the person or of the key; null for a key with permissions of its own."),
    permissions: z
      .array(Permission)
      .describe("What the session may do: what the key may do, or what the person's groups allow."),
    created_at: Timestamp,
    expires_at: Timestamp,
    last_used_at: Timestamp.nullable(),
    address: z.string().describe("IP address that signed in."),
    user_agent: z.string().nullable().describe("What the browser called itself."),
  })
  .meta({ id: "ConsoleSession" });
export type ConsoleSession = z.infer<typeof ConsoleSession>;

const csrfToken = z.string().describe("Goes into the header `X-CSRF-Token` of every change that the session makes.");

const CreatedConsoleSession = ConsoleSession.extend({ csrf_token: csrfToken }).meta({ id: "CreatedConsoleSession" });

/** The session of a request, as `GET /v1/me` shows it. */
export const CurrentSession = z
  .object({
    id: ConsoleSessionId,
    expires_at: Timestamp,
    csrf_token: csrfToken,
    person: SignedInPerson.nullable(),
    organisations: z
      .array(z.object({ id: OrganisationId, name: z.string(), role: Role.nullable() }))
      .describe("Organisations that the session's owner can sign in to."),
  })
  .meta({ id: "CurrentSession" });

const SignIn = z
  .strictObject({
    api_key: z.string().min(1).max(256).optional().describe("Give either `api_key` or `link`."),
    link: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe("What follows `#link=` in the address that `POST /v1/console/links` answered. It works once."),
  })
  .meta({ id: "SignIn" });

const tag = "Console";

export const consoleSessionOperations = {
  "GET /v1/console/sign-in-methods": {
    id: "listSignInMethods",
    tag,
    summary: "List sign-in methods",
    description:
      "How a browser can sign in to the console. A person is signed in by the OpenID Connect issuer of the installation, if it has one: the browser goes to `/console/oidc/start`, with `return_to`, a path of the console, and `organisation`, if the person is in several. Needs no key.",
    permission: "public",
    agents: "none",
    status: 200,
    response: single(
      z
        .object({
          api_key: z.literal(true),
          person: z
            .object({ name: z.string().describe("What the installation calls its issuer.") })
            .nullable()
            .describe("null: the installation has no issuer, so people sign in with API keys."),
        })
        .meta({ id: "SignInMethods" }),
    ),
  },
  "POST /v1/console/sessions": {
    id: "createConsoleSession",
    tag,
    summary: "Sign in to the console",
    description:
      "For browsers: exchanges an API key or a one-time link for a session, whose token is set as a cookie that scripts cannot read. The session may do what the key may do, for 12 hours at most, and ends with the key. A change with the cookie needs the header `X-CSRF-Token`. Requests from other sites are refused, and so is plain HTTP unless it is on this machine. Signing in ends the session that the browser had. Rate-limited by address, and with the other requests of the organisation.",
    permission: "public",
    agents: "none",
    body: SignIn,
    status: 201,
    response: single(CreatedConsoleSession),
    setsCookie: true,
  },
  "POST /v1/console/links": {
    id: "createConsoleLink",
    tag,
    summary: "Create a sign-in link",
    description:
      "Answers an address at which a browser signs in as the calling key, once, within 5 minutes. The secret is in the fragment, which browsers do not send to servers. Needs an API key: a session cannot make another one.",
    permission: null,
    agents: "none",
    status: 201,
    shownOnce: "If you did not get it, make another link with a new Idempotency-Key.",
    response: single(
      z
        .object({
          id: ConsoleSessionId.describe("Of the session that the link begins."),
          url: z.string(),
          expires_at: Timestamp,
        })
        .meta({ id: "ConsoleLink" }),
    ),
  },
  "GET /v1/console/sessions": {
    id: "listConsoleSessions",
    tag,
    summary: "List console sessions",
    description:
      "Sessions that have not ended, newest first: those of the calling key or person, and with the permission `manage` all of the organisation, or of the agent that the key belongs to.",
    permission: null,
    agents: "none",
    query: z.strictObject(pageQuery),
    status: 200,
    response: list(ConsoleSession),
  },
  "DELETE /v1/console/sessions/{session_id}": {
    id: "endConsoleSession",
    tag,
    summary: "End a console session",
    description:
      "Ends a session at once: your own, and with the permission `manage` any of the organisation. The id `current` is the session of the request, so this is how to sign out.",
    permission: null,
    agents: "none",
    params: z.strictObject({ session_id: z.string().min(1).describe("Id of a session, or `current`.") }),
    status: 200,
    response: single(z.object({ id: ConsoleSessionId, ended_at: Timestamp })),
    setsCookie: true,
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type ConsoleSessionOperationKey = keyof typeof consoleSessionOperations;
