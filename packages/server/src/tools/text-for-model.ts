import { storableText } from "../platform/storable-text.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
export const mostBytesRead = MiB;
const mostBytesKept = 64 * KiB;

const rounded = (value: number) => `${Math.round(value * 10) / 10}`;
export const sizeInWords = (bytes: number): string =>
  bytes < MiB ? `${rounded(bytes / KiB)} KiB` : `${rounded(bytes / MiB)} MiB`;

/** The beginning of a text, cut between two characters. */
export const beginningOf = (text: string, mostBytes: number): string =>
  // A decoder that expects more holds back the bytes of an unfinished character.
  new TextDecoder().decode(Buffer.from(text).subarray(0, mostBytes), { stream: true });

/** `whole` is how large it was, in words, when `text` is not all of it. */
export function fitForModel(text: string, whole?: string): string {
  const storable = storableText(text);
  const bytes = Buffer.byteLength(storable);
  if (bytes <= mostBytesKept && whole === undefined) return storable;
  const kept = Math.min(bytes, mostBytesKept);
  return `${beginningOf(storable, kept)}\n[cut: ${sizeInWords(kept)} of ${whole ?? sizeInWords(bytes)}]`;
}
