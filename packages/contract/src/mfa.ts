import { z } from "zod";
import { single, Timestamp } from "./envelopes.ts";
import type { OperationTable } from "./operation.ts";

const tag = "Multi-factor";

const MfaCode = z
  .string()
  .min(6)
  .max(64)
  .describe("Six-digit code from the authenticator app, or a recovery code. Each code works once.")
  .meta({ id: "MfaCode", example: "123456" });

const body = z.strictObject({ code: MfaCode }).meta({ id: "ConfirmMfa" });

/** These operations always concern the calling key. */
export const mfaOperations = {
  "POST /v1/mfa": {
    id: "enrolMfa",
    tag,
    summary: "Enrol a second factor",
    description:
      "Enrols a second factor for the calling key. Add `otpauth_url` to an authenticator app, store the recovery codes, then confirm with a code. The second factor is active once it is confirmed. Where the security settings demand a second factor, this needs a token from `POST /v1/keys/{key_id}/begin-mfa` in `X-MFA-Code`. The answer is not kept: a retry with the same `Idempotency-Key` is 409.",
    permission: null,
    agents: "none",
    status: 201,
    response: single(
      z
        .object({
          secret: z.string().describe("The shared secret, in base32. Shown only once."),
          otpauth_url: z.string(),
          recovery_codes: z
            .array(z.string())
            .describe("Codes for when the device is lost. Each works once. Shown only once."),
        })
        .meta({ id: "MfaEnrolment" }),
    ),
    shownOnce: "If you did not get it, enrol again with a new Idempotency-Key: that replaces an unconfirmed factor.",
    errors: ["conflict"],
  },
  "POST /v1/mfa/confirm": {
    id: "confirmMfa",
    tag,
    summary: "Confirm the second factor",
    permission: null,
    agents: "none",
    body,
    status: 200,
    response: single(z.object({ confirmed_at: Timestamp })),
    errors: ["conflict"],
  },
  "POST /v1/mfa/step-up": {
    id: "stepUp",
    tag,
    summary: "Get a step-up token",
    description:
      "Exchanges a code for a token that scripts can send as `X-MFA-Code`. It is valid for the calling key for ten minutes. The token is not kept: a retry with the same `Idempotency-Key` is 409.",
    permission: null,
    agents: "none",
    body: body.meta({ id: "StepUp" }),
    status: 201,
    response: single(z.object({ token: z.string(), expires_at: Timestamp }).meta({ id: "StepUpToken" })),
    shownOnce: "If you did not get it, send your next code with a new Idempotency-Key.",
  },
  "POST /v1/mfa/remove": {
    id: "removeMfa",
    tag,
    summary: "Remove the second factor",
    permission: null,
    agents: "none",
    body: body.meta({ id: "RemoveMfa" }),
    status: 200,
    response: single(z.object({ removed: z.literal(true) })),
  },
} as const satisfies OperationTable;
export type MfaOperationKey = keyof typeof mfaOperations;
