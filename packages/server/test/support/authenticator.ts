import { currentCode } from "@perch/testkit/identity/one-time-code.ts";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

export interface EnrolledFactor {
  readonly key: string;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Enrols a second factor for a key, by default the organisation's admin key. Uses up the code of the previous period. */
export async function enrolSecondFactor({ call, adminKey }: Organisation, key = adminKey): Promise<EnrolledFactor> {
  const { secret, recovery_codes: recoveryCodes } = ok(await call("POST /v1/mfa", {}, key)).data;
  ok(await call("POST /v1/mfa/confirm", { body: { code: await currentCode(secret, -1) } }, key));
  return { key, secret, recoveryCodes };
}
