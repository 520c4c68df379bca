import type { MfaOperationKey } from "@perch/contract";
import type { Handlers } from "../handlers.ts";
import { conflict } from "../platform/api-error.ts";
import { single } from "../platform/envelopes.ts";
import { deleteFactor, findFactorForUpdate, putFactor, updateFactor } from "./factor-queries.ts";
import { newRecoveryCodes, newSecret, otpauthUrl, signStepUp, stepUpForMs } from "./mfa-rules.ts";
import { type FactorDeps, factorKeyOf, placeOf, type SecondFactor } from "./second-factor.ts";

interface MfaDeps extends FactorDeps {
  readonly secondFactor: SecondFactor;
}

const alreadyThere = () => conflict("This key has a second factor already. Remove that one first.");

export const mfaHandlers = ({ secondFactor, factorSecrets, recoveryDigest, stepUpKey, now }: MfaDeps) =>
  ({
    "POST /v1/mfa": (_, { caller, change }) => {
      const of = factorKeyOf(caller);
      return change(async (trx) => {
        if ((await findFactorForUpdate(trx, of))?.confirmed_at) throw alreadyThere();
        const secret = newSecret();
        const codes = newRecoveryCodes();
        const recoveryCodes = codes.map(recoveryDigest);
        await putFactor(trx, of, { secret: factorSecrets.seal(secret, placeOf(of)), recoveryCodes });
        return single({ secret, otpauth_url: otpauthUrl(secret, caller.keyName), recovery_codes: codes });
      });
    },

    "POST /v1/mfa/confirm": ({ body }, { caller, change }) => {
      const of = factorKeyOf(caller);
      return secondFactor.counting(of, () =>
        change(async (trx) => {
          const { confirmed_at } = await secondFactor.take(trx, of, body.code, true);
          if (confirmed_at) throw alreadyThere();
          const at = new Date(now());
          await updateFactor(trx, of, { confirmed_at: at });
          return single({ confirmed_at: at.toISOString() });
        }),
      );
    },

    "POST /v1/mfa/step-up": ({ body }, { caller, change }) => {
      const of = factorKeyOf(caller);
      return secondFactor.counting(of, () =>
        change(async (trx) => {
          await secondFactor.take(trx, of, body.code);
          const expiresMs = now() + stepUpForMs;
          const token = signStepUp(stepUpKey(), caller.keyId, expiresMs);
          return single({ token, expires_at: new Date(expiresMs).toISOString() });
        }),
      );
    },

    "POST /v1/mfa/remove": ({ body }, { caller, change }) => {
      const of = factorKeyOf(caller);
      return secondFactor.counting(of, () =>
        change(async (trx) => {
          await secondFactor.take(trx, of, body.code);
          await deleteFactor(trx, of);
          return single({ removed: true as const });
        }),
      );
    },
  }) satisfies Handlers<MfaOperationKey>;
