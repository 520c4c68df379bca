import type { Database, OrganisationTransaction } from "../db/database.ts";
import type { Caller } from "../handlers.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Digest, KeySource, Sealer } from "../platform/secrets.ts";
import { type FactorKey, type FactorRow, findFactor, findFactorForUpdate, updateFactor } from "./factor-queries.ts";
import { holdsStepUp, isRecoveryCode, isStepUp, lockAfterFailures, lockedForMs, periodOfCode } from "./mfa-rules.ts";

export interface FactorDeps {
  readonly db: Database;
  readonly factorSecrets: Sealer;
  readonly recoveryDigest: Digest;
  readonly stepUpKey: KeySource;
  readonly now: () => number;
}

const unauthorized = (message: string) => new ApiError("unauthorized", message);
const needed = () => unauthorized("This needs a second factor: send a code in `X-MFA-Code`, or a step-up token.");
const notEnrolled = () => unauthorized("This needs a second factor, and this key has none. Enrol one: POST /v1/mfa.");

/** A code that was wrong, or was used before. It counts towards the lock. */
export class WrongCode extends ApiError {
  constructor() {
    super("unauthorized", "This code is wrong, or was used before.");
  }
}

export const factorKeyOf = ({ keyId, organisation }: Caller): FactorKey => ({ organisationId: organisation.id, keyId });
export const placeOf = ({ organisationId, keyId }: FactorKey): string => JSON.stringify([organisationId, keyId]);

export interface SecondFactor {
  /** Takes a code within a transaction and uses it up. Throws `WrongCode` for a wrong one. */
  readonly take: (
    trx: OrganisationTransaction,
    of: FactorKey,
    code: string,
    unconfirmed?: boolean,
  ) => Promise<FactorRow>;
  /** Runs something that takes a code; a wrong one is counted, whatever became of the transaction. */
  readonly counting: <T>(of: FactorKey, work: () => Promise<T>) => Promise<T>;
  /** For the guard: a code, a recovery code or a step-up token, from a header. */
  readonly verify: (caller: Caller, code: string | undefined) => Promise<void>;
  readonly isEnrolled: (caller: Caller) => Promise<boolean>;
}

export function createSecondFactor({ db, factorSecrets, recoveryDigest, stepUpKey, now }: FactorDeps): SecondFactor {
  /** What using this code changes; undefined for a wrong one. */
  const useOf = (row: FactorRow, of: FactorKey, code: string) => {
    if (isRecoveryCode(code)) {
      const digest = recoveryDigest(code);
      const left = row.recovery_codes.filter((kept) => !kept.equals(digest));
      return left.length < row.recovery_codes.length ? { recovery_codes: left } : undefined;
    }
    const period = periodOfCode(factorSecrets.open(row.secret, placeOf(of)), code, now());
    return period !== undefined && period > Number(row.last_period) ? { last_period: period } : undefined;
  };

  const take: SecondFactor["take"] = async (trx, of, code, unconfirmed = false) => {
    const row = await findFactorForUpdate(trx, of);
    if (!row || (!unconfirmed && row.confirmed_at === null)) throw notEnrolled();
    if (row.locked_until && row.locked_until.getTime() > now())
      throw unauthorized(`Too many wrong codes. No code counts before ${row.locked_until.toISOString()}.`);
    const change = useOf(row, of, code);
    if (!change) throw new WrongCode();
    await updateFactor(trx, of, { ...change, failures: 0, locked_until: null });
    return row;
  };

  const count = (of: FactorKey) =>
    db.inOrganisation(of.organisationId, async (trx) => {
      const row = await findFactorForUpdate(trx, of);
      if (!row) return;
      const failures = row.failures + 1;
      const isLocked = failures >= lockAfterFailures;
      await updateFactor(trx, of, {
        failures: isLocked ? 0 : failures,
        ...(isLocked && { locked_until: new Date(now() + lockedForMs) }),
      });
    });

  const counting: SecondFactor["counting"] = async (of, work) => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof WrongCode) await count(of);
      throw error;
    }
  };

  return {
    take,
    counting,
    verify: async (caller, code) => {
      const of = factorKeyOf(caller);
      if (code === undefined || code === "") throw needed();
      if (isStepUp(code)) {
        if (holdsStepUp(stepUpKey(), code, caller.keyId, now())) return;
        throw unauthorized("This step-up token is not valid here, or not any more.");
      }
      await counting(of, () => db.inOrganisation(of.organisationId, (trx) => take(trx, of, code)));
    },
    isEnrolled: async (caller) => {
      const of = factorKeyOf(caller);
      const row = await db.inOrganisation(of.organisationId, (trx) => findFactor(trx, of));
      return row?.confirmed_at != null;
    },
  };
}
