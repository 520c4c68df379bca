import { type ConsoleSessionOperationKey, linkMinutes, type Permission, type Role, type Tier } from "@perch/contract";
import { requireActiveKey } from "../../auth/authenticate.ts";
import { isWellFormedToken } from "../../auth/key-token.ts";
import { findKeyByDigest, type PresentedKey } from "../../auth/presented-key.ts";
import { findSessionByDigest } from "../../auth/presented-session.ts";
import { csrfTokenOf, digestLink, isSessionToken, newSessionToken } from "../../auth/session-token.ts";
import { ApiError, forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { Uncached, Unchanged } from "../../platform/change-results.ts";
import { newUuid, parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Digest } from "../../platform/sealing.ts";
import { page, single } from "../envelopes.ts";
import { type Handlers, Reply, type RequestContext } from "../handlers.ts";
import * as queries from "./console-session-queries.ts";
import { maxLinks, type SessionDeps, startSession } from "./start-session.ts";
import { toConsoleSession } from "./to-console-session.ts";

interface ConsoleSessionDeps extends SessionDeps {
  readonly keyDigest: Digest;
  /** The issuer at which people sign in; undefined if there is none. */
  readonly people: { readonly name: string } | undefined;
  /** False on a node that only programs should use. */
  readonly hasConsole: boolean;
  /** Counts a sign-in against the organisation's limit: it may end a session, which every node then reads about. */
  readonly admitOrganisation: (organisationId: string, tier: Tier) => Promise<void>;
  readonly onSignIn: (method: "api_key" | "link", outcome: "succeeded" | "refused") => void;
}

interface SignInBody {
  readonly api_key?: string | undefined;
  readonly link?: string | undefined;
}

const unauthorized = (message: string) => new ApiError("unauthorized", message);
const wrongKey = () => unauthorized("This API key is not valid. Check that it was copied whole.");
const wrongLink = () =>
  unauthorized(
    `This link was used before, or is older than ${linkMinutes} minutes. Get a new one: \`perch console\` prints it.`,
  );

function requireConsole({ hasConsole }: Pick<ConsoleSessionDeps, "hasConsole">): void {
  if (hasConsole) return;
  throw forbidden(
    "This node has no console, so you cannot sign in here: the operator has set PERCH_CONSOLE=off. Send the API key in `Authorization`, or sign in at a node that has the console.",
  );
}

function methodOf({ api_key, link }: SignInBody): "api_key" | "link" {
  if (api_key !== undefined && link !== undefined) throw invalid("link", "Give either `api_key` or `link`, not both");
  if (api_key === undefined && link === undefined) throw invalid("api_key", "Required: give `api_key` or `link`");
  return link === undefined ? "api_key" : "link";
}

/** The key that signs in, and the link by which it does. */
async function findSigningIn(
  { db, keyDigest, sessionDigest, now }: ConsoleSessionDeps,
  { api_key = "", link }: SignInBody,
): Promise<{ readonly key: PresentedKey; readonly linkId?: string }> {
  if (link === undefined) {
    const key = isWellFormedToken(api_key) ? await findKeyByDigest(db.unscoped, keyDigest(api_key)) : undefined;
    if (!key) throw wrongKey();
    requireActiveKey(key, now());
    return { key };
  }
  const found = isSessionToken(link)
    ? await findSessionByDigest(db.unscoped, digestLink(sessionDigest, link))
    : undefined;
  if (!found) throw wrongLink();
  const { session, ...key } = found;
  if (session.signedInAt || session.endedAt || session.expiresAt <= now()) throw wrongLink();
  requireActiveKey({ ...key, session: null }, now());
  return { key: { ...key, session: null }, linkId: session.id };
}

async function signIn(
  deps: ConsoleSessionDeps,
  body: SignInBody,
  context: Pick<RequestContext, "correlationId" | "address" | "browser">,
) {
  const { key, linkId } = await findSigningIn(deps, body);
  await deps.admitOrganisation(key.organisation_id, key.tier as Tier);
  const started = await startSession(
    deps,
    { organisationId: key.organisation_id, owner: { keyId: key.id }, notAfter: key.expires_at, linkId },
    context,
  );
  if (!started) throw wrongLink();
  const answer = {
    id: toPublicId("consoleSession", started.id),
    current: true,
    key_id: toPublicId("key", key.id),
    person: null,
    role: key.role as Role | null,
    permissions: key.permissions as Permission[],
    created_at: started.createdAt.toISOString(),
    expires_at: started.expiresAt.toISOString(),
    last_used_at: null,
    address: context.address,
    user_agent: context.browser.userAgent,
    csrf_token: csrfTokenOf(started.token),
  };
  return new Reply(201, { "set-cookie": context.browser.cookie(started.token) }, single(answer));
}

export const consoleSessionHandlers = (deps: ConsoleSessionDeps) => {
  const { db, sessionDigest, people, onSignIn, now } = deps;
  return {
    "GET /v1/console/sign-in-methods": async () =>
      single({ api_key: true as const, person: people ? { name: people.name } : null }),

    "POST /v1/console/sessions": async ({ body }, context) => {
      const method = methodOf(body);
      try {
        requireConsole(deps);
        context.browser.requireSafeSignIn();
        const answer = await signIn(deps, body, context);
        onSignIn(method, "succeeded");
        return answer;
      } catch (error) {
        if (error instanceof ApiError) onSignIn(method, "refused");
        throw error;
      }
    },

    "POST /v1/console/links": (_, { caller, scope, address, browser, change }) => {
      requireConsole(deps);
      const { keyId } = caller;
      if (caller.session || keyId === null)
        throw forbidden("A link needs an API key: a session cannot make another one. Use `perch console`.");
      return change(async (trx) => {
        const token = newSessionToken();
        const createdAt = now();
        const expiresAt = new Date(createdAt.getTime() + linkMinutes * 60_000);
        const digest = digestLink(sessionDigest, token);
        const owner = { keyId };
        await queries.deleteUselessSessions(trx, scope.organisationId, owner, {
          now: createdAt,
          maxLinks: maxLinks - 1,
        });
        const link = {
          id: newUuid(),
          owner,
          digest,
          createdAt,
          activatedAt: null,
          expiresAt,
          address,
          userAgent: null,
        };
        await queries.insertConsoleSession(trx, scope.organisationId, link);
        // Callers that may only read can create links, which must not empty the organisation's caches. Links are not
        // cached.
        return new Uncached(
          single({
            id: toPublicId("consoleSession", link.id),
            url: `${browser.origin}/console/sign-in#link=${token}`,
            expires_at: expiresAt.toISOString(),
          }),
        );
      });
    },

    "GET /v1/console/sessions": ({ query }, { caller, scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const at = now();
        const rows = await queries.listConsoleSessions(trx, caller, scope, { ...query, now: at });
        return page(
          rows.map((row) => toConsoleSession(row, caller.session?.id)),
          query,
          await queries.countConsoleSessions(trx, caller, scope, at),
        );
      }),

    "DELETE /v1/console/sessions/{session_id}": async ({ params }, { caller, scope, browser, change }) => {
      const isCurrent = params.session_id === "current";
      const id = isCurrent ? caller.session?.id : parsePublicId("consoleSession", params.session_id);
      if (isCurrent && !id) throw new ApiError("not_found", "This request has an API key and no session: name one.");
      const answer = await change(async (trx) => {
        const ended = id ? await queries.endConsoleSession(trx, caller, scope, { id, now: now() }) : undefined;
        if (!id || !ended) throw notFound("session", params.session_id);
        const shown = single({ id: toPublicId("consoleSession", id), ended_at: ended.endedAt.toISOString() });
        return ended.wasLive ? shown : new Unchanged(shown);
      });
      return id === caller.session?.id ? new Reply(200, { "set-cookie": browser.cookie() }, answer) : answer;
    },
  } satisfies Handlers<ConsoleSessionOperationKey>;
};
