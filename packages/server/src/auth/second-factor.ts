import type { Database, OrganisationTransaction } from "../db/database.ts";
import { ApiError } from "../platform/api-error.ts";
import { RefusedChange } from "../platform/change-results.ts";
import type { Digest, KeySource, Sealer } from "../platform/sealing.ts";
import type { Caller } from "./caller.ts";
import { type FactorKey, type FactorRow, findFactor, findFactorForUpdate, updateFactor } from "./factor-queries.ts";
import { countAttempt, isRecoveryCode, isStepUp, isValidStepUp, periodOfCode } from "./mfa-rules.ts";

export interface FactorDeps {
  readonly db: Database;
  readonly factorSecrets: Sealer;
  readonly recoveryDigest: Digest;
  readonly stepUpKey: KeySource;
  readonly nowMs: () => number;
}

const unauthorized = (message: string) => new ApiError("unauthorized", message);
const factorRequired = () =>
  unauthorized("This needs a second factor: send a code in `X-MFA-Code`, or a step-up token.");
const notEnrolled = () =>
  unauthorized(
    "This needs a second factor, and this key has none. An admin begins its enrolment with POST /v1/keys/{key_id}/begin-mfa; then enrol with POST /v1/mfa.",
  );

const locked = (until: Date) => unauthorized(`Too many wrong codes. No code counts before ${until.toISOString()}.`);
const wrongCode = () => unauthorized("This code is wrong, or was used before.");

const factorsAreOfKeys = () =>
  new ApiError(
    "forbidden",
    "This needs a second factor, which belongs to an API key, and you are signed in as a person. Sign in with an API key that has one, or send the request with that key.",
  );

/**
 * A key's session has the key's second factor. A person has none here: the issuer does not report whether it asked for
 * one.
 */
export function factorKeyOf({ keyId, organisation }: Caller): FactorKey {
  if (keyId === null) throw factorsAreOfKeys();
  return { organisationId: organisation.id, keyId };
}
export const toAssociatedData = ({ organisationId, keyId }: FactorKey): string =>
  JSON.stringify([organisationId, keyId]);

export interface SecondFactor {
  /**
   * Counts an attempt, judges the code and marks it as used, under a lock on the factor. The transaction must commit also when the
   * code is wrong and this returns a `RefusedChange`: a judged code is a counted one.
   */
  readonly consumeCode: (
    trx: OrganisationTransaction,
    key: FactorKey,
    code: string,
    allowUnconfirmed?: boolean,
  ) => Promise<FactorRow | RefusedChange>;
  /** For the guard: a code, a recovery code or a step-up token, from a header. */
  readonly verify: (caller: Caller, code: string | undefined) => Promise<void>;
  readonly isEnrolled: (caller: Caller) => Promise<boolean>;
}

export function createSecondFactor({
  db,
  factorSecrets,
  recoveryDigest,
  stepUpKey,
  nowMs: now,
}: FactorDeps): SecondFactor {
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
    if (row.locked_until && row.locked_until.getTime() > now()) throw locked(row.locked_until);
    // Counted first: concurrent guesses wait for the row, and beyond the limit they find it locked.
    await updateFactor(trx, key, countAttempt(row.failures, now()));
    const change = updateForCode(row, key, code);
    if (!change) return new RefusedChange(wrongCode());
    await updateFactor(trx, key, { ...change, failures: 0, locked_until: null });
    return row;
  };

  return {
    consumeCode,
    verify: async (caller, code) => {
      const key = factorKeyOf(caller);
      if (code === undefined || code === "") throw factorRequired();
      if (isStepUp(code)) {
        if (isValidStepUp(stepUpKey(), code, key.keyId, now())) return;
        throw unauthorized("This step-up token is not valid here, or has expired.");
      }
      const used = await db.inOrganisation(key.organisationId, (trx) => consumeCode(trx, key, code));
      if (used instanceof RefusedChange) throw used.error;
    },
    isEnrolled: async (caller) => {
      if (caller.keyId === null) return false;
      const key = factorKeyOf(caller);
      const row = await db.inOrganisation(key.organisationId, (trx) => findFactor(trx, key));
      return row?.confirmed_at != null;
    },
  };
}
