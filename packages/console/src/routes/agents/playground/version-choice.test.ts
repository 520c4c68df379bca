import { describe, expect, test } from "vitest";
import { choiceLabel, choiceOptions, contextOf } from "./version-choice.ts";

const live = [
  { environment: "staging", version: "v2" },
  { environment: "production", version: "v1" },
];

describe("contextOf", () => {
  test("asks for the default of every other caller unless something is chosen", () => {
    expect(contextOf(undefined, undefined)).toEqual({});
  });

  test("asks for the live version of the chosen environment, or of the one that the page shows", () => {
    expect(contextOf("live:staging", "production")).toEqual({ environment: "staging" });
    expect(contextOf(undefined, "staging")).toEqual({ environment: "staging" });
  });

  test("asks for the draft or a version by its label", () => {
    for (const version of ["draft", "v1.2.0"]) expect(contextOf(version, "staging")).toEqual({ version });
  });
});

describe("choiceOptions", () => {
  test("has the default first, then the live versions of other environments, the draft, and the versions", () => {
    expect(choiceOptions(undefined, undefined, live, [{ version: "v2" }, { version: "v1" }])).toEqual([
      { value: "", label: "Live in production (v1)" },
      { value: "live:staging", label: "Live in staging (v2)" },
      { value: "draft", label: "Draft" },
      { value: "v2", label: "v2" },
      { value: "v1", label: "v1" },
    ]);
  });

  test("has the version of the address even if it is not in the list", () => {
    expect(choiceOptions("v0", undefined, [], []).at(-1)).toEqual({ value: "v0", label: "v0" });
    expect(choiceOptions("live:qa", undefined, [], []).at(-1)?.label).toBe("Draft (nothing is live in qa)");
  });
});

test("an environment without a deployment shows that the draft runs", () => {
  expect(choiceLabel(undefined, undefined, [])).toBe("Draft (nothing is live in production)");
});
