import { expect, test } from "vitest";
import { keyLabels } from "./key-labels.ts";

test("keys of one name are told apart, so that none of them is left out in silence", () => {
  const names = new Map([
    ["key_3", "deploy bot"],
    ["key_2", "nightly"],
    ["key_1", "deploy bot"],
  ]);
  expect([...keyLabels(names)]).toEqual([
    ["deploy bot (key_3)", "key_3"],
    ["nightly", "key_2"],
    ["deploy bot (key_1)", "key_1"],
  ]);
});
