import type { OrganisationTransaction } from "../db/database.ts";
import type { OrganisationChanges } from "../gate/organisation-changes.ts";
import type { Caller, RequestContext } from "../handlers.ts";
import { conflict } from "../platform/api-error.ts";
import type { Sealer } from "../platform/secrets.ts";
import { findAnswer, insertAnswer, lockRequest } from "./answer-queries.ts";
import { bodyFingerprint, type RepeatableRequest, requestHash } from "./repeatable-request.ts";

/** Thrown through a handler when its request was answered before: nothing is done, and the first answer is sent again. */
export class Replay {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    this.status = status;
    this.body = body;
  }
}

interface ChangeOnceDeps {
  readonly changes: OrganisationChanges;
  readonly answers: Sealer;
}

export type ChangeOnce = (
  caller: Caller,
  request: RepeatableRequest | undefined,
  status: number,
  /** Writes what is to be known of the change later, with it and its answer. */
  record?: (trx: OrganisationTransaction, answer: unknown) => Promise<void>,
) => RequestContext["change"];

/** The change and its answer commit together, so there is no moment at which one exists without the other. */
export const createChangeOnce =
  ({ changes, answers }: ChangeOnceDeps): ChangeOnce =>
  ({ keyId, organisation: { id } }, request, status, record = async () => {}) => {
    const recorded = async <T>(trx: OrganisationTransaction, work: (trx: OrganisationTransaction) => Promise<T>) => {
      const result = await work(trx);
      await record(trx, result);
      return result;
    };
    if (!request) return (work) => changes.commit(id, (trx) => recorded(trx, work));
    const hash = requestHash(request);
    const fingerprint = bodyFingerprint(request);
    const place = `${id} ${hash.toString("hex")}`;

    const refuseOrReplay = async (trx: OrganisationTransaction): Promise<void> => {
      await lockRequest(trx, id, hash);
      const kept = await findAnswer(trx, id, hash);
      if (!kept) return;
      // An answer may hold a secret: only the key that made the request gets it again.
      if (kept.key_id !== keyId)
        throw conflict("This Idempotency-Key was used with another API key. Choose a new one.");
      if (!kept.fingerprint.equals(fingerprint)) {
        throw conflict("This Idempotency-Key was used with another body. Choose a new one, or send the same body.");
      }
      throw new Replay(kept.status, answers.open(kept.body, place));
    };

    return (work) =>
      changes.commit(id, async (trx) => {
        await refuseOrReplay(trx);
        const result = await recorded(trx, work);
        const body = answers.seal(JSON.stringify(result), place);
        await insertAnswer(trx, id, { request: hash, key_id: keyId, fingerprint, status, body });
        return result;
      });
  };
