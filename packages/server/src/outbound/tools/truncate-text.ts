import { storableText } from "../../platform/storable-text.ts";
import type { Redactor } from "../secrets/redactor.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const maxResultBytes = 64 * KiB;

const rounded = (value: number) => `${Math.round(value * 10) / 10}`;
export const formatBytes = (bytes: number): string =>
  bytes < MiB ? `${rounded(bytes / KiB)} KiB` : `${rounded(bytes / MiB)} MiB`;

/** The beginning of a text, cut between two characters. */
export const truncateToBytes = (text: string, maxBytes: number): string =>
  // A decoder that expects more holds back the bytes of an unfinished character.
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });

/**
 * A tool's result as the model gets it and a database can store it. `fullSize` is the formatted size of the original
 * when `text` is only a part of it.
 */
export function truncateResult(text: string, fullSize?: string): string {
  const storable = storableText(text);
  const bytes = Buffer.byteLength(storable);
  if (bytes <= maxResultBytes && fullSize === undefined) return storable;
  const truncatedBytes = Math.min(bytes, maxResultBytes);
  return `${truncateToBytes(storable, truncatedBytes)}\n[cut: ${formatBytes(truncatedBytes)} of ${fullSize ?? formatBytes(bytes)}]`;
}

/** More than a result shows, even if values in it were longer than their replacements. */
const maxSearchedLength = 2 * maxResultBytes;

/**
 * The same without secrets. Only the visible part is searched, because a text that nearly has them everywhere takes
 * nearly a second for each MiB. `isBeginning`: there was more of the text than `text`.
 */
export async function redactResult(
  text: string,
  redactor: Redactor,
  { isBeginning = false, fullSize }: { readonly isBeginning?: boolean; readonly fullSize?: string } = {},
): Promise<string> {
  if (text.length <= maxSearchedLength)
    return truncateResult(await redactor[isBeginning ? "beginning" : "text"](text), fullSize);
  const searched = await redactor.beginning(text.slice(0, maxSearchedLength));
  return truncateResult(searched, fullSize ?? formatBytes(Buffer.byteLength(text)));
}
