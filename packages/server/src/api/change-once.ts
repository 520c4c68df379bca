import { errorStatus, type Operation } from "@perch/contract";
import type { Caller } from "../auth/caller.ts";
import type { OrganisationChanges } from "../cache/organisation-changes.ts";
import type { OrganisationTransaction } from "../db/database.ts";
import { conflict } from "../platform/api-error.ts";
import { RefusedChange, Uncached, Unchanged } from "../platform/change-results.ts";
import type { Digest } from "../platform/sealing.ts";
import { digestUser, digestUserOfRun } from "../resources/erasures/seal-user.ts";
import type { RequestContext } from "../resources/handlers.ts";
import { bodyFingerprint, type IdempotentRequest, requestHash } from "../resources/idempotent-request.ts";
import { findAnswer, lockRequest } from "./answer-queries.ts";
import { errorBody } from "./error-reply.ts";
import { createKeptAnswers, type KeptAnswersDeps } from "./kept-answers.ts";

/** Thrown through a handler when its request was answered before: nothing is changed, and the first answer is sent again. */
export class Replay {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    this.status = status;
    this.body = body;
  }
}

interface ChangeOnceDeps extends KeptAnswersDeps {
  readonly changes: OrganisationChanges;
  readonly userDigest: Digest;
}

type KeptOperation = Pick<Operation, "status" | "shownOnce" | "secretBody">;

export type ChangeOnce = (
  caller: Caller,
  request: IdempotentRequest | undefined,
  operation: KeptOperation,
  /** Writes the audit entry, in the same transaction as the change and its answer. */
  record?: (trx: OrganisationTransaction, answer: unknown) => Promise<void>,
) => RequestContext["change"];

/**
 * The answer that a retry gets. A retry must not reveal a second factor to a caller that has only the key, and a link's
 * secret is not stored for longer than it works.
 */
const answerToKeep = ({ status, shownOnce }: KeptOperation, answer: unknown) =>
  shownOnce === undefined
    ? { status, body: answer }
    : {
        status: errorStatus.conflict,
        body: errorBody(conflict(`This request was answered before, and its answer is shown only once. ${shownOnce}`)),
      };

interface NamesUser {
  readonly user_id?: unknown;
  readonly request_id?: unknown;
}

/**
 * The owner of the text in a stored answer, which repeats its request or shows what another request stored, such as a
 * run.
 */
function ownerOf(digest: Digest, organisationId: string, request: unknown, answer: unknown): Buffer | null {
  const { data } = (answer ?? {}) as { readonly data?: NamesUser | null };
  const userId = data?.user_id ?? (request as NamesUser | null | undefined)?.user_id;
  if (typeof userId !== "string") return null;
  const digestOwner = typeof data?.request_id === "string" ? digestUserOfRun : digestUser;
  return digestOwner(digest, organisationId, userId);
}

const doNothing = async (): Promise<void> => undefined;

/** The change and its answer commit in one transaction, so neither exists without the other. */
export function createChangeOnce(deps: ChangeOnceDeps): ChangeOnce {
  const { changes, bodyDigest, userDigest } = deps;
  const keptAnswers = createKeptAnswers(deps);
  return ({ credentialId, session, user, organisation }, request, operation, record = doNothing) => {
    // A session is not its key: an answer may have shown a key or a token.
    const presented = session?.id ?? credentialId;
    const { id } = organisation;
    const commit = async <T>(
      work: (trx: OrganisationTransaction) => Promise<T | Unchanged<T> | Uncached<T> | RefusedChange>,
      before: (trx: OrganisationTransaction) => Promise<void>,
      after: (trx: OrganisationTransaction, answer: unknown) => Promise<void>,
    ): Promise<T> => {
      const result = await changes.commit(id, async (trx) => {
        await before(trx);
        const answer = await work(trx);
        if (answer instanceof RefusedChange) return answer;
        if (answer instanceof Unchanged) {
          await after(trx, answer.answer);
          return answer;
        }
        const changed = answer instanceof Uncached ? answer.result : answer;
        await record(trx, changed);
        await after(trx, changed);
        // A change to something that is not cached leaves the epoch as it is.
        return answer instanceof Uncached ? new Unchanged(changed) : changed;
      });
      if (result instanceof RefusedChange) throw result.error;
      return result instanceof Unchanged ? result.answer : result;
    };
    if (!request) return (work) => commit(work, doNothing, doNothing);
    const hash = requestHash(request);
    const fingerprintOf = (body: unknown) => {
      const plain = bodyFingerprint({ ...request, body });
      return operation.secretBody ? bodyDigest(plain.toString("hex")) : plain;
    };
    const bodyAlone = fingerprintOf(request.body);
    // The answer is for the user that asked. One without a user was kept before answers had one.
    const fingerprint = user ? fingerprintOf([request.body, user.id]) : bodyAlone;

    const refuseOrReplay = async (trx: OrganisationTransaction): Promise<void> => {
      await lockRequest(trx, id, hash);
      const stored = await findAnswer(trx, id, hash);
      if (!stored) return;
      // An answer may contain a secret: only the key or session that made the request gets it again.
      if (stored.key_id !== presented)
        throw conflict("This Idempotency-Key was used with another API key or session. Choose a new one.");
      if (!stored.fingerprint.equals(fingerprint) && !stored.fingerprint.equals(bodyAlone))
        throw conflict(
          user
            ? "This Idempotency-Key was used with another body or by another user. Choose a new one, or send the same."
            : "This Idempotency-Key was used with another body. Choose a new one, or send the same body.",
        );
      throw new Replay(stored.status, await keptAnswers.open(id, hash, stored));
    };

    const keepAnswer = async (trx: OrganisationTransaction, answer: unknown): Promise<void> => {
      const kept = answerToKeep(operation, answer);
      await keptAnswers.keep(trx, organisation, {
        request: hash,
        key_id: presented,
        fingerprint,
        status: kept.status,
        text: JSON.stringify(kept.body),
        owner: ownerOf(userDigest, id, request.body, answer),
      });
    };
    return (work) => commit(work, refuseOrReplay, keepAnswer);
  };
}
