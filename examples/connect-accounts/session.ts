// This stands in for your own sign-in, and accepts every user name. For connections, it matters that the user of a
// request comes from a session that this application has signed, and never from an address or a form.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Sessions end with the process. In production, store the key so that all your processes can read it. */
const key = randomBytes(32);
const maxAgeSeconds = 8 * 60 * 60;

const sign = (value: string): string => createHmac("sha256", key).update(value).digest("base64url");

function isSigned(value: string, signature: string): boolean {
  const [expected, given] = [Buffer.from(sign(value)), Buffer.from(signature)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Lax and not Strict, because the browser returns from the provider's site and has to send the cookie. */
const cookie = (value: string, ageSeconds: number, origin: string): string =>
  `session=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${ageSeconds}${origin.startsWith("https:") ? "; Secure" : ""}`;

export function startSession(user: string, origin: string): string {
  const ends = Date.now() + maxAgeSeconds * 1000;
  const value = Buffer.from(JSON.stringify({ user, ends })).toString("base64url");
  return cookie(`${value}.${sign(value)}`, maxAgeSeconds, origin);
}

export const endSession = (origin: string): string => cookie("", 0, origin);

export function userOf(cookies = ""): string | undefined {
  const [, value = "", signature = ""] = /(?:^|; )session=([\w-]+)\.([\w-]+)/.exec(cookies) ?? [];
  if (!isSigned(value, signature)) return undefined;
  const { user, ends } = JSON.parse(Buffer.from(value, "base64url").toString()) as { user: string; ends: number };
  return Date.now() < ends ? user : undefined;
}
