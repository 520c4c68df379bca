import type { Database, OrganisationTransaction } from "../db/database.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Digest, KeySource, Sealer } from "../platform/secrets.ts";
import type { Caller } from "./caller.ts";
import { type FactorKey, type FactorRow, findFactor, findFactorForUpdate, updateFactor } from "./factor-queries.ts";
import {
  isRecoveryCode,
  isStepUp,
  isValidStepUp,
  lockAfterFailures,
  lockDurationMs,
  periodOfCode,
} from "./mfa-rules.ts";

export interface FactorDeps {
  readonly db: Database;
  readonly factorSecrets: Sealer;
  readonly recoveryDigest: Digest;
  readonly stepUpKey: KeySource;
  readonly now: () => number;
}

const unauthorized = (message: string) => new ApiError("unauthorized", message);
const factorRequired = () =>
  unauthorized("This needs a second factor: send a code in `X-MFA-Code`, or a step-up token.");
const notEnrolled = () => unauthorized("This needs a second factor, and this key has none. Enrol one: POST /v1/mfa.");

/** A wrong or already used code. It counts towards the lock. */
export class WrongCodeError extends ApiError {
  constructor() {
    super("unauthorized", "This code is wrong, or was used before.");
  }
}

export const factorKeyOf = ({ keyId, organisation }: Caller): FactorKey => ({ organisationId: organisation.id, keyId });
export const toAssociatedData = ({ organisationId, keyId }: FactorKey): string =>
  JSON.stringify([organisationId, keyId]);

export interface SecondFactor {
  /** Verifies a code within a transaction and marks it as used. Throws `WrongCodeError` for a wrong one. */
  readonly consumeCode: (
    trx: OrganisationTransaction,
    key: FactorKey,
    code: string,
    allowUnconfirmed?: boolean,
  ) => Promise<FactorRow>;
  /** Runs work that consumes a code. A wrong code is counted in a transaction of its own, because the work's is rolled back. */
  readonly countingFailures: <T>(key: FactorKey, work: () => Promise<T>) => Promise<T>;
  /** For the guard: a code, a recovery code or a step-up token, from a header. */
  readonly verify: (caller: Caller, code: string | undefined) => Promise<void>;
  readonly isEnrolled: (caller: Caller) => Promise<boolean>;
}

export function createSecondFactor({ db, factorSecrets, recoveryDigest, stepUpKey, now }: FactorDeps): SecondFactor {
  /** The update that marks this code as used; undefined for a wrong code. */
  const updateForCode = (row: FactorRow, key: FactorKey, code: string) => {
    if (isRecoveryCode(code)) {
      const digest = recoveryDigest(code);
      const remaining = row.recovery_codes.filter((stored) => !stored.equals(digest));
      return remaining.length < row.recovery_codes.length ? { recovery_codes: remaining } : undefined;
    }
    const period = periodOfCode(factorSecrets.open(row.secret, toAssociatedData(key)), code, now());
    return period !== undefined && period > Number(row.last_period) ? { last_period: period } : undefined;
  };

  const consumeCode: SecondFactor["consumeCode"] = async (trx, key, code, allowUnconfirmed = false) => {
    const row = await findFactorForUpdate(trx, key);
    if (!row || (!allowUnconfirmed && row.confirmed_at === null)) throw notEnrolled();
    if (row.locked_until && row.locked_until.getTime() > now())
      throw unauthorized(`Too many wrong codes. No code counts before ${row.locked_until.toISOString()}.`);
    const change = updateForCode(row, key, code);
    if (!change) throw new WrongCodeError();
    await updateFactor(trx, key, { ...change, failures: 0, locked_until: null });
    return row;
  };

  const recordFailure = (key: FactorKey) =>
    db.inOrganisation(key.organisationId, async (trx) => {
      const row = await findFactorForUpdate(trx, key);
      if (!row) return;
      const failures = row.failures + 1;
      const isLocked = failures >= lockAfterFailures;
      await updateFactor(trx, key, {
        failures: isLocked ? 0 : failures,
        ...(isLocked && { locked_until: new Date(now() + lockDurationMs) }),
      });
    });

  const countingFailures: SecondFactor["countingFailures"] = async (key, work) => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof WrongCodeError) await recordFailure(key);
      throw error;
    }
  };

  return {
    consumeCode,
    countingFailures,
    verify: async (caller, code) => {
      const key = factorKeyOf(caller);
      if (code === undefined || code === "") throw factorRequired();
      if (isStepUp(code)) {
        if (isValidStepUp(stepUpKey(), code, caller.keyId, now())) return;
        throw unauthorized("This step-up token is not valid here, or has expired.");
      }
      await countingFailures(key, () => db.inOrganisation(key.organisationId, (trx) => consumeCode(trx, key, code)));
    },
    isEnrolled: async (caller) => {
      const key = factorKeyOf(caller);
      const row = await db.inOrganisation(key.organisationId, (trx) => findFactor(trx, key));
      return row?.confirmed_at != null;
    },
  };
}
