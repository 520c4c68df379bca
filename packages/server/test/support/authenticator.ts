import { setTimeout as sleep } from "node:timers/promises";
import { TOTP } from "otpauth";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

const periodMs = 30_000;

/** The TOTP code of now, or of some periods of 30 s from now. */
export const generateTotpCode = (secret: string, periods = 0): string =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + periods * periodMs });

export interface EnrolledFactor {
  readonly key: string;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** A code that is made just before its period ends is an older one when the server sees it. */
const untilPeriodLasts = (): Promise<void> => {
  const leftMs = periodMs - (Date.now() % periodMs);
  return leftMs > 2000 ? Promise.resolve() : sleep(leftMs + 10);
};

/** Enrols a second factor for a key, by default the organisation's admin key. Uses up the code of the previous period. */
export async function enrolSecondFactor({ call, adminKey }: Organisation, key = adminKey): Promise<EnrolledFactor> {
  const { secret, recovery_codes: recoveryCodes } = ok(await call("POST /v1/mfa", {}, key)).data;
  await untilPeriodLasts();
  ok(await call("POST /v1/mfa/confirm", { body: { code: generateTotpCode(secret, -1) } }, key));
  return { key, secret, recoveryCodes };
}
