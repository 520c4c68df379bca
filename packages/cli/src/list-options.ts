import type { OptionSpecs } from "./command.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { parseWhole } from "./output/duration.ts";

/** For commands that show a page of a list. */
export const listOptions = {
  limit: { type: "string", value: "N", help: "Maximum number of items, up to 100. Default: 10." },
  offset: { type: "string", value: "N", help: "Number of items to skip." },
} as const satisfies OptionSpecs;

export const pageOf = ({ limit, offset }: { readonly limit?: string; readonly offset?: string }) =>
  omitUndefined({
    limit: limit === undefined ? undefined : parseWhole("limit", limit),
    offset: offset === undefined ? undefined : parseWhole("offset", offset),
  });
