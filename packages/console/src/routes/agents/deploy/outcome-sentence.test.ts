import type { Deployment } from "@perch/sdk";
import { describe, expect, test } from "vitest";
import { outcomeSentence } from "./outcome-sentence.ts";

const deployment = (version: string): Deployment => ({ version }) as Deployment;
const served = (live: string, canary?: string) => [
  { environment: "production", live: deployment(live), canary: canary === undefined ? undefined : deployment(canary) },
];

describe("outcomeSentence", () => {
  test("names the deployment that is replaced", () => {
    expect(outcomeSentence("production", "v2", 100, served("v1"))).toBe(
      "v2 will be live in production, in place of v1.",
    );
    expect(outcomeSentence("staging", "v2", 100, served("v1"))).toContain("nothing is deployed there yet");
  });

  test("reports that a canary ends with the live version beside it", () => {
    expect(outcomeSentence("production", "v4", 100, served("v2", "v3"))).toBe(
      "v4 will be live in production, in place of v2; the canary v3 ends.",
    );
  });

  test("reports that a second canary is refused", () => {
    expect(outcomeSentence("production", "v4", 10, served("v2"))).toContain("v4 will get 10 % of the requests");
    expect(outcomeSentence("production", "v4", 10, served("v2", "v3"))).toContain("promote or abort it first");
  });
});
