import { TOTP } from "otpauth";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

/** The code that a device shows, now or some periods of 30 s from now. */
export const codeOf = (secret: string, periods = 0): string =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + periods * 30_000 });

export interface Enrolled {
  readonly key: string;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** A second factor for a key, the organisation's first unless another is given. Uses up the code of the period before. */
export async function enrol({ call, adminKey }: Organisation, key = adminKey): Promise<Enrolled> {
  const { secret, recovery_codes: recoveryCodes } = ok(await call("POST /v1/mfa", {}, key)).data;
  ok(await call("POST /v1/mfa/confirm", { body: { code: codeOf(secret, -1) } }, key));
  return { key, secret, recoveryCodes };
}
