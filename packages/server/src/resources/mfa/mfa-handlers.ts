import type { MfaOperationKey } from "@perch/contract";
import { deleteFactor, findFactorForUpdate, insertFactor, updateFactor } from "../../auth/factor-queries.ts";
import { newRecoveryCodes, newSecret, otpauthUrl, signStepUp, stepUpTtlMs } from "../../auth/mfa-rules.ts";
import { type FactorDeps, factorKeyOf, type SecondFactor, toAssociatedData } from "../../auth/second-factor.ts";
import { RefusedChange } from "../../platform/change-results.ts";
import { single } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";
import { alreadyEnrolled, beginEnrolment, type EnrolmentDeps, refuseUnbegunEnrolment } from "./begin-enrolment.ts";

interface MfaDeps extends FactorDeps, EnrolmentDeps {
  readonly secondFactor: SecondFactor;
}

export const mfaHandlers = (deps: MfaDeps) => {
  const { secondFactor, factorSecrets, recoveryDigest, stepUpKey, nowMs: now } = deps;
  return {
    "POST /v1/keys/{key_id}/begin-mfa": ({ params }, { caller, scope, change }) =>
      change(async (trx) => single(await beginEnrolment(deps, trx, scope, { publicId: params.key_id, caller }))),

    "POST /v1/mfa": (_, { caller, scope, mfaCode, change }) => {
      const factorKey = factorKeyOf(caller);
      return change(async (trx) => {
        if ((await findFactorForUpdate(trx, factorKey))?.confirmed_at) throw alreadyEnrolled();
        await refuseUnbegunEnrolment(deps, trx, scope, { keyId: factorKey.keyId, token: mfaCode });
        const secret = newSecret();
        const codes = newRecoveryCodes();
        const recoveryCodes = codes.map(recoveryDigest);
        await insertFactor(trx, factorKey, {
          secret: factorSecrets.seal(secret, toAssociatedData(factorKey)),
          recoveryCodes,
        });
        return single({ secret, otpauth_url: otpauthUrl(secret, caller.keyName), recovery_codes: codes });
      });
    },

    "POST /v1/mfa/confirm": ({ body }, { caller, change }) => {
      const factorKey = factorKeyOf(caller);
      return change(async (trx) => {
        const used = await secondFactor.consumeCode(trx, factorKey, body.code, true);
        if (used instanceof RefusedChange) return used;
        if (used.confirmed_at) throw alreadyEnrolled();
        const at = new Date(now());
        await updateFactor(trx, factorKey, { confirmed_at: at });
        return single({ confirmed_at: at.toISOString() });
      });
    },

    "POST /v1/mfa/step-up": ({ body }, { caller, change }) => {
      const factorKey = factorKeyOf(caller);
      return change(async (trx) => {
        const used = await secondFactor.consumeCode(trx, factorKey, body.code);
        if (used instanceof RefusedChange) return used;
        const expiresMs = now() + stepUpTtlMs;
        const token = signStepUp(stepUpKey(), factorKey.keyId, expiresMs);
        return single({ token, expires_at: new Date(expiresMs).toISOString() });
      });
    },

    "POST /v1/mfa/remove": ({ body }, { caller, change }) => {
      const factorKey = factorKeyOf(caller);
      return change(async (trx) => {
        const used = await secondFactor.consumeCode(trx, factorKey, body.code);
        if (used instanceof RefusedChange) return used;
        await deleteFactor(trx, factorKey);
        return single({ removed: true as const });
      });
    },
  } satisfies Handlers<MfaOperationKey | "POST /v1/keys/{key_id}/begin-mfa">;
};
