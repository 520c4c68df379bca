import { setTimeout as sleep } from "node:timers/promises";
import { OpenIdFailure } from "../../auth/openid-failure.ts";
import { accessFromGroups, type Claims } from "../../auth/person-rules.ts";
import type { OrganisationChanges } from "../../cache/organisation-changes.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { ApiError } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { createLruCache } from "../../platform/lru-cache.ts";
import { NoAnswer, withinLimit } from "../../platform/within-limit.ts";
import { insertEntryWithoutCaller } from "../audit/audit-entry.ts";
import { type PeopleSource, readAnswer } from "./people.ts";
import { createClaimPersonCheck, type PersonCheckClaim, type PersonSessionRef } from "./person-check-claims.ts";
import * as queries from "./person-session-queries.ts";

/**
 * Asks the issuer again whether the person still has the groups, if that was last asked too long ago. Undefined: nothing to wait for.
 * Afterwards the session may have ended or may do something else: look it up. Throws if the issuer has been silent for too long.
 */
export type RecheckPerson = (session: PersonSessionRef) => Promise<void> | undefined;

export interface RecheckTimes {
  /** A session is used for at most this long without the issuer's word. */
  readonly intervalMs: number;
  /** And for this much longer while the issuer does not answer. */
  readonly graceMs: number;
  /** Between two attempts at an issuer that does not answer. */
  readonly retryMs: number;
  /** How long a request waits for the issuer. */
  readonly waitMs: number;
}

export const recheckTimes: RecheckTimes = {
  intervalMs: 10 * 60_000,
  graceMs: 10 * 60_000,
  retryMs: 15_000,
  waitMs: 3000,
};

export type CheckOutcome = "confirmed" | "changed" | "ended" | "unavailable";

interface RecheckDeps {
  readonly db: Database;
  readonly changes: Pick<OrganisationChanges, "commit">;
  readonly source: PeopleSource;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onChecked: (outcome: CheckOutcome) => void;
  readonly times?: RecheckTimes;
}

type WaitsFor = "database" | "issuer" | "another node";

/** This node's knowledge of a session. */
interface Known {
  readonly checkedAtMs: number;
  /** When the last check did not end in time, and which part it waited for; null if it did. */
  readonly failed: { readonly atMs: number; readonly waitsFor: WaitsFor } | null;
}

/** A check under way, however many requests wait for it. */
interface Check {
  readonly done: Promise<void>;
  readonly progress: Progress;
}

interface Progress {
  waitsFor: WaitsFor;
  /** The failures that have been logged and counted. */
  readonly noted: Set<WaitsFor>;
}

const maxSessions = 50_000;
const pollMs = 250;

const accessIn = (
  { mappings }: PeopleSource,
  groups: ReadonlySet<string>,
  organisationId: string,
): queries.PersonAccess | undefined =>
  accessFromGroups(groups, mappings).find((access) => access.organisationId === organisationId);

/** For the audit log. Empty if nothing has changed. */
function describeChange(before: queries.PersonAccess, after: queries.PersonAccess): string {
  const role = after.role === before.role ? [] : [`The role is ${after.role} now; it was ${before.role}.`];
  if (after.mayApprove === before.mayApprove) return role.join(" ");
  return [...role, `The permission approve was ${after.mayApprove ? "added" : "taken away"}.`].join(" ");
}

const recordInAudit = (
  trx: OrganisationTransaction,
  { organisationId, sessionId }: PersonSessionRef,
  person: string,
  operation: "recheckPerson" | "endConsoleSession",
  reason: string,
) =>
  insertEntryWithoutCaller(trx, organisationId, {
    actor: "person",
    person,
    sessionId,
    operation,
    resourceType: "console_session",
    resource: toPublicId("consoleSession", sessionId),
    details: { reason },
  });

export function createRecheckPerson(deps: RecheckDeps): RecheckPerson {
  const { db, changes, source, logger, now, onChecked, times = recheckTimes } = deps;
  const known = createLruCache<string, Known>(maxSessions);
  const checking = new Map<string, Check>();
  const claimCheck = createClaimPersonCheck(deps);

  const remember = ({ sessionId }: PersonSessionRef, checkedAtMs: number, failed: Known["failed"] = null): void =>
    void known.set(sessionId, { checkedAtMs, failed });

  const end = async (ref: PersonSessionRef, { person }: queries.PersonSession, reason: string): Promise<void> => {
    const { organisationId, sessionId } = ref;
    await changes.commit(organisationId, async (trx) => {
      if (!(await queries.updatePersonSessionEnded(trx, organisationId, sessionId, new Date(now()))))
        return new Unchanged(undefined);
      await recordInAudit(trx, ref, person, "endConsoleSession", reason);
      return undefined;
    });
    known.delete(sessionId);
    onChecked("ended");
    logger.info({ sessionId: toPublicId("consoleSession", sessionId), reason }, "session of a person ended");
  };

  /** Every node has the session cached, and reads it again only if something in it has changed. False if the update found none. */
  const changeAccess = async (
    ref: PersonSessionRef,
    before: queries.PersonSession,
    access: queries.PersonAccess,
    update: (trx: OrganisationTransaction) => Promise<boolean>,
  ): Promise<boolean> => {
    const result = await changes.commit(ref.organisationId, async (trx) => {
      if (!(await update(trx))) return new Unchanged(false);
      const change = describeChange(before.access, access);
      if (change === "") return new Unchanged(true);
      await recordInAudit(trx, ref, before.person, "recheckPerson", change);
      return true;
    });
    return result instanceof Unchanged ? result.answer : result;
  };

  /** False if the claim was lost in the meantime. */
  const confirm = async (
    ref: PersonSessionRef,
    before: queries.PersonSession,
    { row }: PersonCheckClaim,
    claims: Claims,
  ): Promise<boolean> => {
    const { organisationId, sessionId } = ref;
    const found = readAnswer({ claims }, source);
    const access = found && accessIn(source, found.groups, organisationId);
    if (!found || !access) {
      await end(ref, before, "No group of the person leads to this organisation any more.");
      return true;
    }
    const checkedAt = new Date(now());
    const checked = {
      name: found.person.name,
      email: found.person.email,
      access,
      groups: [...found.groups],
      checkedAt,
    };
    const isWritten = await changeAccess(ref, before, access, (trx) =>
      queries.updateCheckedPerson(trx, organisationId, sessionId, row, checked),
    );
    if (!isWritten) return false;
    remember(ref, checkedAt.getTime());
    onChecked(describeChange(before.access, access) === "" ? "confirmed" : "changed");
    return true;
  };

  /** Asks with the tokens that this node has claimed. False if the claim was lost in the meantime. */
  const ask = async (
    ref: PersonSessionRef,
    session: queries.PersonSession,
    claim: PersonCheckClaim,
    progress: Progress,
  ): Promise<boolean> => {
    const askIssuer = async <T>(work: () => Promise<T>): Promise<T> => {
      progress.waitsFor = "issuer";
      const answer = await work();
      progress.waitsFor = "database";
      return answer;
    };
    const { tokens: before } = claim;
    if (!before) {
      await end(ref, session, "There are no tokens to ask the issuer with.");
      return true;
    }
    try {
      const { tokens, readClaims } = await askIssuer(() => source.client.ask(session.subject, before));
      await claim.keep(tokens);
      return await confirm(ref, session, claim, await askIssuer(readClaims));
    } catch (error) {
      if (error instanceof OpenIdFailure && error.kind === "refused") {
        await end(ref, session, "The issuer no longer confirms the sign-in.");
        return true;
      }
      await claim.release();
      throw error;
    }
  };

  /**
   * Applies the current settings to the groups as last confirmed, so that a changed setting counts from the restart on.
   * Undefined if the session has ended.
   */
  const applySettings = async (
    ref: PersonSessionRef,
    session: queries.PersonSession,
  ): Promise<queries.PersonSession | undefined> => {
    const { organisationId, sessionId } = ref;
    const access = accessIn(source, new Set(session.groups), organisationId);
    if (session.issuer !== source.issuer || !access) {
      await end(ref, session, "The settings no longer let the person in.");
      return undefined;
    }
    if (describeChange(session.access, access) !== "")
      await changeAccess(ref, session, access, (trx) =>
        queries.updatePersonAccess(trx, organisationId, sessionId, access),
      );
    return { ...session, access };
  };

  const check = async (ref: PersonSessionRef, progress: Progress): Promise<void> => {
    const { organisationId, sessionId } = ref;
    for (;;) {
      const found = await db.inOrganisation(organisationId, (trx) =>
        queries.findPersonSession(trx, organisationId, sessionId),
      );
      const session = found && (await applySettings(ref, found));
      if (!session) return;
      const checkedAtMs = session.checkedAt.getTime();
      if (now() - checkedAtMs < times.intervalMs) return remember(ref, checkedAtMs);
      remember(ref, checkedAtMs, known.get(sessionId)?.failed);
      const claim = await claimCheck(ref, session.checkedAt);
      if (claim && (await ask(ref, session, claim, progress))) return;
      // Another node is asking: its answer is in the row as soon as it has one.
      progress.waitsFor = "another node";
      await sleep(pollMs);
    }
  };

  /** Logs and counts it once for each check, however many requests wait. */
  const noteFailure = (ref: PersonSessionRef, { noted }: Progress, waitsFor: WaitsFor, reason: string): void => {
    const checkedAtMs = known.get(ref.sessionId)?.checkedAtMs;
    if (checkedAtMs !== undefined) remember(ref, checkedAtMs, { atMs: now(), waitsFor });
    if (noted.has(waitsFor)) return;
    noted.add(waitsFor);
    const sessionId = toPublicId("consoleSession", ref.sessionId);
    if (waitsFor === "issuer") {
      onChecked("unavailable");
      logger.warn({ sessionId, issuer: source.issuer, reason }, "the issuer did not confirm a session, will retry");
    } else logger.warn({ sessionId, waitsFor, reason }, "the check of a session takes long");
  };

  /** One at a time for each session. */
  const checkOnce = (ref: PersonSessionRef): Check => {
    const running = checking.get(ref.sessionId);
    if (running) return running;
    const progress: Progress = { waitsFor: "database", noted: new Set() };
    const done = check(ref, progress)
      .catch((error: unknown) => {
        if (error instanceof OpenIdFailure) noteFailure(ref, progress, "issuer", error.message);
        throw error;
      })
      .finally(() => checking.delete(ref.sessionId));
    const started = { done, progress };
    checking.set(ref.sessionId, started);
    // Callers that wait get the failure; without any, it must not be unhandled.
    done.catch(() => undefined);
    return started;
  };

  const isInGrace = ({ checkedAtMs }: Known): boolean => now() - checkedAtMs < times.intervalMs + times.graceMs;

  const unconfirmed = (waitsFor: WaitsFor, cause?: unknown): ApiError => {
    const minutes = Math.round((times.intervalMs + times.graceMs) / 60_000);
    const reason =
      waitsFor === "issuer"
        ? `${source.name} did not answer for ${minutes} minutes, so it is not known whether you may still do this.`
        : "Whether you may still do this could not be checked in time.";
    const message = `${reason} Try again shortly, or sign in with an API key.`;
    return new ApiError("unavailable", message, { retryAfterSeconds: 5, cause });
  };

  const waitForCheck = async (ref: PersonSessionRef): Promise<void> => {
    const { done, progress } = checkOnce(ref);
    try {
      await withinLimit(times.waitMs, () => done);
    } catch (error) {
      const waitsFor = error instanceof OpenIdFailure ? "issuer" : progress.waitsFor;
      if (error instanceof NoAnswer) noteFailure(ref, progress, waitsFor, error.message);
      // Not about the issuer: the database, for example.
      else if (!(error instanceof OpenIdFailure)) throw error;
      const seen = known.get(ref.sessionId);
      if (!seen || !isInGrace(seen)) throw unconfirmed(waitsFor, error);
    }
  };

  return (ref) => {
    const seen = known.get(ref.sessionId);
    if (!seen) return waitForCheck(ref);
    if (now() - seen.checkedAtMs < times.intervalMs) return undefined;
    if (!seen.failed) return waitForCheck(ref);
    const { atMs, waitsFor } = seen.failed;
    const mayRetry = now() - atMs >= times.retryMs;
    if (!isInGrace(seen)) return mayRetry ? waitForCheck(ref) : Promise.reject(unconfirmed(waitsFor));
    // Requests go on in the meantime, and do not wait for an issuer that does not answer.
    if (mayRetry) checkOnce(ref);
    return undefined;
  };
}
