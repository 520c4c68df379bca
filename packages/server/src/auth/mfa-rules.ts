import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { Secret, TOTP } from "otpauth";

const periodSeconds = 30;
const lockAfterFailures = 5;
const lockDurationMs = 15 * 60_000;
export const stepUpTtlMs = 10 * 60_000;
export const enrolmentTtlMs = 24 * 60 * 60_000;

/** The factor's row after one more attempt, before its code is checked. A right code then clears both. */
export function countAttempt(failures: number, nowMs: number): { failures: number; locked_until: Date | null } {
  const counted = failures + 1;
  return counted < lockAfterFailures
    ? { failures: counted, locked_until: null }
    : { failures: 0, locked_until: new Date(nowMs + lockDurationMs) };
}

export const newSecret = (): string => new Secret({ size: 20 }).base32;

const totpOf = (secret: string, label = "key") =>
  new TOTP({ issuer: "Perch", label, algorithm: "SHA1", digits: 6, period: periodSeconds, secret });

export const otpauthUrl = (secret: string, label: string): string => totpOf(secret, label).toString();

/** The time period of a code: the current, previous or next one; undefined for a wrong code. */
export function periodOfCode(secret: string, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const delta = totpOf(secret).validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : Math.floor(nowMs / 1000 / periodSeconds) + delta;
}

const alphabet = "abcdefghjkmnpqrstvwxyz0123456789";
const randomLetters = (count: number) =>
  [...randomBytes(count)].map((byte) => alphabet[byte % alphabet.length]).join("");

/** 60 bits each. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: 10 }, () => `${randomLetters(4)}-${randomLetters(4)}-${randomLetters(4)}`);

export const isRecoveryCode = (code: string): boolean => /^[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}$/.test(code);

const stepUpPrefix = "mfa_";
const enrolmentPrefix = "enrol_";
const tagOf = (signingKey: Buffer, body: string) => createHmac("sha256", signingKey).update(body).digest();

/** Each kind of token has a signing key of its own, so that none passes for another. */
function signToken(prefix: string, signingKey: Buffer, keyId: string, expiresMs: number): string {
  const body = Buffer.from(JSON.stringify([keyId, expiresMs])).toString("base64url");
  return `${prefix}${body}.${tagOf(signingKey, body).toString("base64url")}`;
}

function isValidToken(prefix: string, signingKey: Buffer, token: string, keyId: string, nowMs: number): boolean {
  if (!token.startsWith(prefix)) return false;
  const [body = "", tag = "", ...more] = token.slice(prefix.length).split(".");
  const [actual, expected] = [Buffer.from(tag, "base64url"), tagOf(signingKey, body)];
  if (more.length > 0 || actual.length !== expected.length || !timingSafeEqual(actual, expected)) return false;
  const [forKey, expiresMs] = JSON.parse(Buffer.from(body, "base64url").toString()) as [string, number];
  return forKey === keyId && nowMs < expiresMs;
}

/** A signed token which states that the holder of this key verified a code. It is valid until `expiresMs`. */
export const signStepUp = (signingKey: Buffer, keyId: string, expiresMs: number): string =>
  signToken(stepUpPrefix, signingKey, keyId, expiresMs);

export const isStepUp = (code: string): boolean => code.startsWith(stepUpPrefix);

export const isValidStepUp = (signingKey: Buffer, token: string, keyId: string, nowMs: number): boolean =>
  isValidToken(stepUpPrefix, signingKey, token, keyId, nowMs);

/** A signed token with which the holder of this key may enrol a second factor, until `expiresMs`. */
export const signEnrolment = (signingKey: Buffer, keyId: string, expiresMs: number): string =>
  signToken(enrolmentPrefix, signingKey, keyId, expiresMs);

export const isValidEnrolment = (signingKey: Buffer, token: string, keyId: string, nowMs: number): boolean =>
  isValidToken(enrolmentPrefix, signingKey, token, keyId, nowMs);
