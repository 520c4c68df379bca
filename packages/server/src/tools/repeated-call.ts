import type { ToolCall } from "../models/model.ts";

/** The same for values that differ only in the order of their keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? "";

/** The call made most often with the same arguments, the first of them when several were: a model in a loop shows here. */
export function mostRepeated(calls: readonly Pick<ToolCall, "name" | "arguments">[]): { name: string; times: number } {
  const same = Map.groupBy(calls, ({ name, arguments: args }) => `${name} ${canonical(args)}`);
  let most = { name: "", times: 0 };
  for (const [{ name } = { name: "" }, ...more] of same.values())
    if (more.length + 1 > most.times) most = { name, times: more.length + 1 };
  return most;
}
