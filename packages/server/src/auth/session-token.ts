import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { sessionHours } from "@perch/contract";
import type { Digest } from "../platform/sealing.ts";

/** 256 random bits, in base64url: of a session's cookie, or of a link that becomes one. */
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

export const newSessionToken = (): string => randomBytes(32).toString("base64url");
export const isSessionToken = (text: string): boolean => tokenPattern.test(text);

/** Digests of sessions and of links differ for the same token: neither can be presented as the other. */
export const digestSession = (digest: Digest, token: string): Buffer => digest(`session ${token}`);
export const digestLink = (digest: Digest, token: string): Buffer => digest(`link ${token}`);

/** The session's token cannot be derived from it, and it cannot be computed without that token. */
export const csrfTokenOf = (token: string): string =>
  createHmac("sha256", token).update("perch csrf token").digest("base64url");

export function isCsrfToken(token: string, presented: string): boolean {
  const expected = Buffer.from(csrfTokenOf(token));
  const given = Buffer.from(presented);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Browsers take a cookie of this prefix only from the host itself, over HTTPS and for all of its paths. */
const secureCookie = "__Host-perch_session";
const loopbackCookie = "perch_session";

export const cookieName = (isHttps: boolean): string => (isHttps ? secureCookie : loopbackCookie);

/** `token` undefined: the browser forgets the cookie. */
export function sessionCookie(token: string | undefined, isHttps: boolean): string {
  const attributes = [
    "Path=/",
    "HttpOnly",
    "SameSite=Strict",
    `Max-Age=${token === undefined ? 0 : sessionHours * 3600}`,
    ...(isHttps ? ["Secure"] : []),
  ];
  return [`${cookieName(isHttps)}=${token ?? ""}`, ...attributes].join("; ");
}

/** Every value that a `Cookie` header has for this name. */
export const cookieValues = (header: string, name: string): string[] =>
  header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
