import { sessionHours } from "@perch/contract";
import { auditedName } from "../../auth/person-rules.ts";
import { isActive } from "../../auth/presented-key.ts";
import { findSessionByDigest, type PresentedSession } from "../../auth/presented-session.ts";
import { digestSession, newSessionToken } from "../../auth/session-token.ts";
import type { OrganisationChanges } from "../../cache/organisation-changes.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import type { Digest } from "../../platform/sealing.ts";
import { insertEntryWithoutCaller } from "../audit/audit-entry.ts";
import type { PublicContext } from "../handlers.ts";
import * as queries from "./console-session-queries.ts";

/** The limit for one key or person. The oldest session ends when one more begins. */
export const maxSessions = 50;
export const maxLinks = 10;
export const sessionMs = sessionHours * 3_600_000;

export interface SessionDeps {
  readonly db: Database;
  readonly changes: OrganisationChanges;
  readonly sessionDigest: Digest;
  readonly now: () => Date;
}

type SignInContext = Pick<PublicContext, "correlationId" | "address" | "browser">;

const personOf = (owner: queries.SessionOwner): string | null => ("keyId" in owner ? null : auditedName(owner));

/** Records a sign-in or sign-out, for which no caller was admitted. */
const insertAuditEntry = (
  trx: OrganisationTransaction,
  organisationId: string,
  operation: "createConsoleSession" | "endConsoleSession",
  session: { readonly id: string; readonly keyId: string | null; readonly person: string | null },
  { correlationId, address }: SignInContext,
  details: { readonly reason?: string } = {},
) =>
  insertEntryWithoutCaller(trx, organisationId, {
    actor: session.person === null ? "key" : "person",
    keyId: session.keyId,
    person: session.person,
    sessionId: session.id,
    operation,
    resourceType: "console_session",
    resource: toPublicId("consoleSession", session.id),
    correlationId,
    address,
    details,
  });

/** The session that the browser has before it signs in. */
async function findReplaced({ db, sessionDigest, now }: SessionDeps, token: string | undefined) {
  const session =
    token === undefined ? undefined : await findSessionByDigest(db.unscoped, digestSession(sessionDigest, token));
  return session && isActive(session, now()) ? session : undefined;
}

async function endReplaced({ changes, now }: SessionDeps, replaced: PresentedSession, context: SignInContext) {
  const { session, organisation_id } = replaced;
  const person = session.person && auditedName(session.person);
  await changes.commit(organisation_id, async (trx) => {
    if (!(await queries.updateSessionEndedAt(trx, organisation_id, { id: session.id, now: now() })))
      return new Unchanged(undefined);
    const keyId = session.person ? null : replaced.id;
    await insertAuditEntry(trx, organisation_id, "endConsoleSession", { id: session.id, keyId, person }, context);
    return undefined;
  });
}

export interface SignIn {
  readonly organisationId: string;
  readonly owner: queries.SessionOwner;
  /** No session lasts longer than this. */
  readonly notAfter: Date | null;
  /** The link that becomes the session. */
  readonly linkId?: string | undefined;
  /** The id of a person's session, for which the tokens of its owner are sealed. */
  readonly sessionId?: string | undefined;
}

export interface StartedSession {
  readonly id: string;
  readonly token: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/**
 * Begins a session for a key, a link or a person that was checked before. Its token is always new, so that it cannot be
 * chosen for another person. The browser's previous session ends. Undefined if the link has just been used.
 */
export async function startSession(
  deps: SessionDeps,
  { organisationId, owner, notAfter, linkId, sessionId }: SignIn,
  context: SignInContext,
): Promise<StartedSession | undefined> {
  const { changes, sessionDigest, now } = deps;
  const replaced = await findReplaced(deps, context.browser.sessionToken());
  const token = newSessionToken();
  const at = now();
  const latest = new Date(at.getTime() + sessionMs);
  const expiresAt = notAfter && notAfter < latest ? notAfter : latest;
  const id = linkId ?? sessionId ?? newUuid();
  const { address, browser } = context;
  const session = { digest: digestSession(sessionDigest, token), expiresAt, address, userAgent: browser.userAgent };
  const started = await changes.commit(organisationId, async (trx) => {
    await queries.deleteUselessSessions(trx, organisationId, owner, { now: at, maxLinks });
    if (linkId === undefined)
      await queries.insertConsoleSession(trx, organisationId, {
        ...session,
        id,
        owner,
        createdAt: at,
        activatedAt: at,
      });
    else if (!(await queries.updateLinkToSession(trx, organisationId, linkId, { ...session, now: at })))
      return new Unchanged(false);
    const who = { keyId: "keyId" in owner ? owner.keyId : null, person: personOf(owner) };
    await insertAuditEntry(trx, organisationId, "createConsoleSession", { id, ...who }, context);
    const ended = await queries.endOldestSessions(trx, organisationId, owner, { now: at, max: maxSessions });
    for (const endedId of ended)
      await insertAuditEntry(trx, organisationId, "endConsoleSession", { id: endedId, ...who }, context, {
        reason: `Another session began, and ${maxSessions} are the most.`,
      });
    // No node has anything of a new session cached.
    return ended.length > 0 ? true : new Unchanged(true);
  });
  if (started instanceof Unchanged && !started.answer) return undefined;
  if (replaced) await endReplaced(deps, replaced, context);
  return { id, token, createdAt: at, expiresAt };
}
