import { randomBytes } from "node:crypto";
import { deriveKey, type KeySource } from "../platform/sealing.ts";
import { type BoundTokens, boundBytes, createBoundTokens, fromUuids, uuidAt } from "./bound-token.ts";
import { cookieValues } from "./session-token.ts";

/** The consent that a token is for. */
export interface ConsentRef {
  readonly organisationId: string;
  readonly connectionId: string;
}

interface ConsentTokens {
  /** A new one each time: the database keeps the digest of the one that counts. */
  readonly create: (consent: ConsentRef) => string;
  /** Undefined for anything that we did not sign for this step. */
  readonly open: (token: string) => ConsentRef | undefined;
}

export interface ConnectionTokens {
  /** The links that the user's browser is sent to. */
  readonly links: ConsentTokens;
  /** `state` at the provider. Neither counts as the other. */
  readonly states: ConsentTokens;
}

const uuidsBytes = 32;

const toConsentTokens = ({ tokenOf, open }: BoundTokens): ConsentTokens => ({
  create: ({ organisationId, connectionId }) =>
    tokenOf(Buffer.concat([fromUuids(organisationId, connectionId), randomBytes(boundBytes - uuidsBytes)])),
  open: (token) => {
    const bound = open(token);
    return bound && { organisationId: uuidAt(bound, 0), connectionId: uuidAt(bound, 1) };
  },
});

export const createConnectionTokens = (key: KeySource): ConnectionTokens => {
  const tokensFor = (purpose: string) => toConsentTokens(createBoundTokens(() => deriveKey(key(), purpose)));
  return { links: tokensFor("links"), states: tokensFor("states") };
};

/** How long a link can be opened, and how long a person may take at the provider. */
export const consentMinutes = 10;
/** How long an application may take to confirm. */
export const confirmMinutes = 2;

/** 256 random bits, in base64url: for the cookie of a browser. */
export const newOneTimeSecret = (): string => randomBytes(32).toString("base64url");

/**
 * For the application. The prefix identifies it for secret scanners, and prevents a code from beginning like a
 * command-line option.
 */
export const newConfirmationCode = (): string => `pcc_${newOneTimeSecret()}`;

/**
 * Browsers take a cookie of this prefix only from the host itself, over HTTPS and for all of its paths. Each connection has its own, so
 * that a person can consent to two in two tabs.
 */
const cookieName = (connectionId: string, isHttps: boolean): string =>
  `${isHttps ? "__Host-" : ""}perch_connect_${connectionId}`;

/** `SameSite=Lax`: the browser must send it when the provider sends the person back. Without a value, the browser forgets it. */
export function consentCookie(connectionId: string, value: string | undefined, isHttps: boolean): string {
  const attributes = [
    "Path=/",
    "HttpOnly",
    "SameSite=Lax",
    `Max-Age=${value === undefined ? 0 : consentMinutes * 60}`,
    ...(isHttps ? ["Secure"] : []),
  ];
  return [`${cookieName(connectionId, isHttps)}=${value ?? ""}`, ...attributes].join("; ");
}

/** Undefined if there is none, or if there are two, because then another site set one of them. */
export function sentConsentCookie(cookies: string, connectionId: string, isHttps: boolean): string | undefined {
  const values = cookieValues(cookies, cookieName(connectionId, isHttps));
  return values.length === 1 ? values[0] : undefined;
}
