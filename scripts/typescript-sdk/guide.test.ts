import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { methodNames } from "./method-names.ts";

/** The program of the guide is executed by spec/acceptance/guides.test.ts. */
const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/typescript-sdk.md"), "utf8");

test("the guide names every method", () => {
  const rows = new Map(
    [...guide.matchAll(/^\| `(\w+)` \| ((?:`\w+` ?)+)\|$/gm)].map(([, name = "", methods = ""]) => [name, methods]),
  );
  const isMissing = (place: string): boolean => {
    const [namespace = "", method = ""] = place.split(".");
    return !rows.get(namespace)?.includes(`\`${method}\``);
  };
  expect(rows.size).toBeGreaterThan(10);
  expect(Object.values(methodNames).filter((place) => place !== "account.me" && isMissing(place))).toEqual([]);
});
