import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { keyPattern } from "@perch/contract";

/**
 * `perch_` + home cell (2) + random (38) + checksum (6), all base62: 46 characters after the prefix. With the cell, an
 * edge can route without a look-up; with the checksum, scanners and this server can refuse a typo without a query.
 */
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const cell = "00";
const randomLength = 38;
const checksumLength = 6;
const prefixLength = "perch_".length + cell.length + 6;

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

export function newToken(): string {
  const random = Array.from({ length: randomLength }, () => alphabet.charAt(randomInt(62))).join("");
  const body = `perch_${cell}${random}`;
  return body + checksum(body);
}

/** Whether the format and checksum are right. This does not prove that the key was ever issued. */
export const isWellFormedToken = (text: string): boolean =>
  keyPattern.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);

/** Long enough to recognise a key, too short to help guess it. */
export const tokenPrefix = (token: string): string => token.slice(0, prefixLength);
