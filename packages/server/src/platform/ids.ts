import { randomBytes } from "node:crypto";
import { type IdKind, idPrefixes } from "@perch/contract";

/**
 * Ids are TypeIDs outside and UUIDs in the database. This file is the border. A TypeID is its kind's prefix and the 128 bits of
 * the UUID in base32. Two of its letters stand for ten bits, and four for five hexadecimal digits.
 */
const alphabet = [..."0123456789abcdefghjkmnpqrstvwxyz"];
const letterPairs = alphabet.flatMap((first) => alphabet.map((second) => first + second));
const valueOfPair = new Map(letterPairs.map((pair, value) => [pair, value]));
const suffixLength = 26;

function toSuffix(hex: string): string {
  let suffix = letterPairs[Number.parseInt(hex.slice(0, 2), 16)] ?? "";
  for (let i = 2; i < hex.length; i += 5) {
    const value = Number.parseInt(hex.slice(i, i + 5), 16);
    suffix += `${letterPairs[value >>> 10]}${letterPairs[value & 1023]}`;
  }
  return suffix;
}

function fromSuffix(suffix: string): string | undefined {
  if (suffix.length !== suffixLength) return undefined;
  const first = valueOfPair.get(suffix.slice(0, 2));
  // The first pair stands for 8 bits only: 128 bits do not fill 26 letters.
  if (first === undefined || first > 255) return undefined;
  let hex = first.toString(16).padStart(2, "0");
  for (let i = 2; i < suffixLength; i += 4) {
    const high = valueOfPair.get(suffix.slice(i, i + 2));
    const low = valueOfPair.get(suffix.slice(i + 2, i + 4));
    if (high === undefined || low === undefined) return undefined;
    hex += ((high << 10) | low).toString(16).padStart(5, "0");
  }
  return hex;
}

// Drawn for many ids at once: a call for each would cost more than all the rest of an id.
const poolBytes = 4096;
let randomDigits = "";
let usedDigits = 0;

function takeRandomDigits(count: number): string {
  if (usedDigits + count > randomDigits.length) {
    randomDigits = randomBytes(poolBytes).toString("hex");
    usedDigits = 0;
  }
  usedDigits += count;
  return randomDigits.slice(usedDigits - count, usedDigits);
}

const maxCounter = 2 ** 26 - 1;
/** A clock that was set back further than this is followed, and ids no longer sort by the order in which they were made. */
const maxClockStepMs = 10_000;
let timeMs = 0;
let timeHex = "";
let counter = 0;

function startMillisecond(ms: number): void {
  timeMs = ms;
  timeHex = ms.toString(16).padStart(12, "0");
  // 24 of its 26 bits, so that there is always room to count.
  counter = Number.parseInt(takeRandomDigits(6), 16);
}

/** The digits of a UUIDv7: the time, a counter that keeps ids of one millisecond in order (RFC 9562, 6.2), and 48 random bits. */
function nextHex(): string {
  const now = Date.now();
  if (now > timeMs || now < timeMs - maxClockStepMs) startMillisecond(now);
  else if (counter === maxCounter) startMillisecond(timeMs + 1);
  else counter += 1;
  const high = (0x7000 | (counter >>> 14)).toString(16);
  const low = (0x8000 | (counter & 0x3fff)).toString(16);
  return timeHex + high + low + takeRandomDigits(12);
}

const toUuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The UUIDs that a caller may name: of any version, or the two that have none. */
const versionedUuid =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-(?:0{4}-){3}0{12}|f{8}-(?:f{4}-){3}f{12})$/i;

function fromUuid(uuid: string): string {
  if (!uuidShape.test(uuid)) throw new Error(`${JSON.stringify(uuid)} is not a UUID`);
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}

export const newUuid = (): string => toUuid(nextHex());

/** The time in a UUIDv7. */
export const uuidTime = (uuid: string): Date => new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16));

/** No UUIDv7 of this millisecond, or a later one, comes before it. */
export const firstUuidAt = (time: Date): string =>
  toUuid(`${Math.max(time.getTime(), 0).toString(16).padStart(12, "0")}${"0".repeat(20)}`);

/** No UUIDv7 of this millisecond, or an earlier one, comes after it. */
export const lastUuidAt = (time: Date): string =>
  toUuid(`${time.getTime().toString(16).padStart(12, "0")}${"f".repeat(20)}`);

export const newPublicId = (kind: IdKind): string => `${idPrefixes[kind]}_${toSuffix(nextHex())}`;

export const toPublicId = (kind: IdKind, uuid: string): string => `${idPrefixes[kind]}_${toSuffix(fromUuid(uuid))}`;

/** The UUID of a public id of this kind, or undefined for anything else. */
export function parsePublicId(kind: IdKind, text: string): string | undefined {
  const prefix = idPrefixes[kind];
  if (!text.startsWith(prefix) || text.charAt(prefix.length) !== "_") return undefined;
  const hex = fromSuffix(text.slice(prefix.length + 1));
  const uuid = hex === undefined ? "" : toUuid(hex);
  return versionedUuid.test(uuid) ? uuid : undefined;
}

/**
 * For a filter: an id of the right form that stands for no UUID selects nothing, although leaving the filter out would
 * select all.
 */
export const parseFilterId = (kind: IdKind, text: string): string =>
  parsePublicId(kind, text) ?? "00000000-0000-0000-0000-000000000000";

/** A run, or its part after it has waited for a person for the nth time. */
interface RunPart {
  readonly id: string;
  /** Absent or 0: its beginning. */
  readonly cut?: number | undefined;
}

/** Names one part of a run, for the engine and for its slot: the beginning has the run's own id. */
export const runPartId = ({ id, cut }: RunPart): string => (cut ? `${id}.${cut}` : id);

/** How often the run had waited when this part began. */
export const suspensionsOfPart = (part: string): number => Number(part.split(".", 2)[1] ?? 0);

/** The run that a part belongs to. */
export const runIdOfPart = (part: string): string => part.split(".", 1)[0] ?? part;
