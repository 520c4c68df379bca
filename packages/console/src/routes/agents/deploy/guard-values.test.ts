import { expect, test } from "vitest";
import { noGuards, toGuards } from "./guard-values.ts";

test("a canary gets only the guards with a limit", () => {
  expect(toGuards(noGuards)).toBeUndefined();
  expect(toGuards({ ...noGuards, errorPoints: "7", windowMinutes: "0.5" })).toEqual({
    ...{ max_error_rate_increase: 0.07, min_runs: 50, window_seconds: 30 },
  });
  expect(toGuards({ ...noGuards, p95Ratio: "1.5", tokensRatio: "2", minRuns: "10" })).toEqual({
    ...{ max_p95_ratio: 1.5, max_mean_tokens_ratio: 2, min_runs: 10, window_seconds: 3600 },
  });
});
