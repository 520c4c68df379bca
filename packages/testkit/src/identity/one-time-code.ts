import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const periodMs = 30_000;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** The TOTP code (RFC 6238) of now, or some periods of 30 s from now. */
export function generateTotpCode(secret: string, periods = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / periodMs) + periods));
  const digest = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, "0");
}

/** A code that is made just before its period ends is out of date when the server sees it. */
async function untilPeriodLasts(): Promise<void> {
  const leftMs = periodMs - (Date.now() % periodMs);
  if (leftMs < 2000) await sleep(leftMs + 10);
}

/** The current code, or the code some periods from now. Waits if the period is about to end. */
export async function currentCode(secret: string, periods = 0): Promise<string> {
  await untilPeriodLasts();
  return generateTotpCode(secret, periods);
}
