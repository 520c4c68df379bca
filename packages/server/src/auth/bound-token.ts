import { createHmac, timingSafeEqual } from "node:crypto";
import type { KeySource } from "../platform/sealing.ts";

/**
 * Tokens of the bound values and their HMAC-SHA-256. A forged one is refused without a query, so no answer reveals what
 * exists.
 */
export interface BoundTokens {
  /** The same token for the same bytes. */
  readonly tokenOf: (bound: Buffer) => string;
  /** Undefined for anything that this key did not sign. */
  readonly open: (token: string) => Buffer | undefined;
}

const uuidBytes = 16;
const macBytes = 32;
/** How much every token binds. */
export const boundBytes = 64;

/** 96 bytes are 128 letters with no bit to spare: there is one way to write a token. */
const tokenPattern = /^[A-Za-z0-9_-]{128}$/;

export function createBoundTokens(key: KeySource): BoundTokens {
  const macOf = (bound: Buffer): Buffer => createHmac("sha256", key()).update(bound).digest();
  return {
    tokenOf: (bound) => Buffer.concat([bound, macOf(bound)]).toString("base64url"),
    open: (token) => {
      if (!tokenPattern.test(token)) return undefined;
      const bytes = Buffer.from(token, "base64url");
      const bound = bytes.subarray(0, boundBytes);
      return timingSafeEqual(macOf(bound), bytes.subarray(boundBytes, boundBytes + macBytes)) ? bound : undefined;
    },
  };
}

/** UUIDs, one after the other. */
export const fromUuids = (...uuids: readonly string[]): Buffer =>
  Buffer.from(uuids.join("").replaceAll("-", ""), "hex");

/** The UUID at this index, if only UUIDs come before it. */
export const uuidAt = (bound: Buffer, index: number): string =>
  bound
    .subarray(index * uuidBytes, (index + 1) * uuidBytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** The bytes after this many UUIDs. */
export const afterUuids = (bound: Buffer, count: number): Buffer => bound.subarray(count * uuidBytes);
