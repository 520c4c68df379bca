import { createHash } from "node:crypto";
import type { ToolCall } from "../models/model.ts";

/** The same for values that differ only in the order of their keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? "";

/** Longer arguments are compared by how they are written: sorting their keys again and again would cost more than it finds. */
const maxSortedCharacters = 16 * 1024;

function keyOf({ name, arguments: args }: Pick<ToolCall, "name" | "arguments">): string {
  const written = JSON.stringify(args) ?? "";
  const same = written.length <= maxSortedCharacters ? canonical(args) : written;
  return createHash("sha256").update(`${name} ${same}`).digest("base64");
}

/** The call made most often with the same arguments, the first one when several tie. It reveals a model in a loop. */
export function findMostRepeatedCall(calls: readonly Pick<ToolCall, "name" | "arguments">[]): {
  name: string;
  times: number;
} {
  const same = Map.groupBy(calls, keyOf);
  let mostRepeated = { name: "", times: 0 };
  for (const [{ name } = { name: "" }, ...more] of same.values())
    if (more.length + 1 > mostRepeated.times) mostRepeated = { name, times: more.length + 1 };
  return mostRepeated;
}
