import { hash, randomBytes } from "node:crypto";
import type { TraceParent } from "../platform/trace-parent.ts";

const traceIdHex = 32;
const spanIdHex = 16;

export const newTraceId = (): string => randomBytes(traceIdHex / 2).toString("hex");
export const newSpanId = (): string => randomBytes(spanIdHex / 2).toString("hex");

/** The same parts make the same id: work that is repeated, also by another process, is the same span. */
export const spanIdOf = (...parts: readonly (string | number)[]): string =>
  hash("sha256", parts.join("\n"), "hex").slice(0, spanIdHex);

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Reads a `traceparent` header (W3C Trace Context); undefined if it is invalid, as if it were absent. */
export function parseTraceparent(
  header: string | undefined,
): (TraceParent & { readonly sampled: boolean }) | undefined {
  const [, version, traceId = "", parentId = "", flags = "", more] = pattern.exec(header?.trim() ?? "") ?? [];
  // Version 0 has four fields; later ones may have more.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
