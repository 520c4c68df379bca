import { expect, test } from "vitest";
import { type KnownDeployment, whyKept } from "./retire-release.ts";
import { agentRuns, reconcile } from "./services.ts";

const deployment = (release: string, current: readonly string[], runs = 0): KnownDeployment => ({
  id: `dp_${release}`,
  uri: `http://workers:7401/releases/${release}/1`,
  createdAt: new Date(0),
  version: release,
  current,
  runs,
});
const longAfter = 3_600_000;

test("after going back, a release can be retired that is current only for services which the earlier one does not have", () => {
  const earlier = deployment("0.1.0", [agentRuns]);
  const later = deployment("0.2.0", [reconcile]);
  expect(whyKept(later, [earlier, later], longAfter)).toBeUndefined();
  expect(whyKept(earlier, [earlier, later], longAfter)).toContain("It takes new runs.");
  expect(whyKept({ ...later, runs: 2 }, [earlier, later], longAfter)).toContain("2 of its runs have not ended.");
});
