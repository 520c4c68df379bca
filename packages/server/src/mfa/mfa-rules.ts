import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { Secret, TOTP } from "otpauth";

const periodSeconds = 30;
export const lockAfterFailures = 5;
export const lockedForMs = 15 * 60_000;
export const stepUpForMs = 10 * 60_000;

export const newSecret = (): string => new Secret({ size: 20 }).base32;

const totpOf = (secret: string, label = "key") =>
  new TOTP({ issuer: "Perch", label, algorithm: "SHA1", digits: 6, period: periodSeconds, secret });

export const otpauthUrl = (secret: string, label: string): string => totpOf(secret, label).toString();

/** The period that a code belongs to, of the one now, the one before and the next; undefined for a wrong code. */
export function periodOfCode(secret: string, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const delta = totpOf(secret).validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : Math.floor(nowMs / 1000 / periodSeconds) + delta;
}

const alphabet = "abcdefghjkmnpqrstvwxyz0123456789";
const letters = (count: number) => [...randomBytes(count)].map((byte) => alphabet[byte % alphabet.length]).join("");

/** 60 bits each. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: 10 }, () => `${letters(4)}-${letters(4)}-${letters(4)}`);

export const isRecoveryCode = (code: string): boolean => /^[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}$/.test(code);

const prefix = "mfa_";
const tagOf = (signingKey: Buffer, body: string) => createHmac("sha256", signingKey).update(body).digest();

/** A token that says: whoever holds this key has shown a code, until then. */
export function signStepUp(signingKey: Buffer, keyId: string, expiresMs: number): string {
  const body = Buffer.from(JSON.stringify([keyId, expiresMs])).toString("base64url");
  return `${prefix}${body}.${tagOf(signingKey, body).toString("base64url")}`;
}

export const isStepUp = (code: string): boolean => code.startsWith(prefix);

export function holdsStepUp(signingKey: Buffer, token: string, keyId: string, nowMs: number): boolean {
  const [body = "", tag = "", ...more] = token.slice(prefix.length).split(".");
  const [shown, right] = [Buffer.from(tag, "base64url"), tagOf(signingKey, body)];
  if (more.length > 0 || shown.length !== right.length || !timingSafeEqual(shown, right)) return false;
  const [forKey, expiresMs] = JSON.parse(Buffer.from(body, "base64url").toString()) as [string, number];
  return forKey === keyId && nowMs < expiresMs;
}
