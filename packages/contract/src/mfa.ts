import { z } from "zod";
import { single, Timestamp } from "./envelopes.ts";
import type { OperationTable } from "./operation.ts";

const tag = "Multi-factor";

const MfaCode = z
  .string()
  .min(6)
  .max(64)
  .describe("Six digits of the device, or a recovery code. Each counts once.")
  .meta({ id: "MfaCode", example: "123456" });

const body = z.strictObject({ code: MfaCode }).meta({ id: "ConfirmMfa" });

/** All of them are about the key that asks: who holds a key adds a device to it. */
export const mfaOperations = {
  "POST /v1/mfa": {
    id: "enrolMfa",
    tag,
    summary: "Enrol a second factor",
    description:
      "For the key that asks. Give `otpauth_url` to an authenticator, keep the recovery codes, then confirm with a code. Nothing counts before that.",
    permission: null,
    status: 201,
    response: single(
      z
        .object({
          secret: z.string().describe("Base32. Shown only now."),
          otpauth_url: z.string(),
          recovery_codes: z.array(z.string()).describe("For the day the device is lost; each once. Shown only now."),
        })
        .meta({ id: "MfaEnrolment" }),
    ),
    errors: ["conflict"],
  },
  "POST /v1/mfa/confirm": {
    id: "confirmMfa",
    tag,
    summary: "Confirm the second factor",
    permission: null,
    body,
    status: 200,
    response: single(z.object({ confirmed_at: Timestamp })),
    errors: ["conflict"],
  },
  "POST /v1/mfa/step-up": {
    id: "stepUp",
    tag,
    summary: "Get a step-up token",
    description: "For scripts: a token for `X-MFA-Code` that counts for this key as a code does, for ten minutes.",
    permission: null,
    body: body.meta({ id: "StepUp" }),
    status: 201,
    response: single(z.object({ token: z.string(), expires_at: Timestamp }).meta({ id: "StepUpToken" })),
  },
  "POST /v1/mfa/remove": {
    id: "removeMfa",
    tag,
    summary: "Remove the second factor",
    permission: null,
    body: body.meta({ id: "RemoveMfa" }),
    status: 200,
    response: single(z.object({ removed: z.literal(true) })),
  },
} as const satisfies OperationTable;
