import type { VersionDiff } from "@perch/contract";
import type { Share } from "../../fairness/shares.ts";
import { createWorkThread, type WorkMeter } from "../../fairness/work-thread.ts";
import { ApiError } from "../../platform/api-error.ts";
import { assertComparable, type StoredVersion } from "./version-diff.ts";

interface CompareDeps {
  readonly processorTime: Pick<Share, "acquire">;
  readonly onWorked: WorkMeter;
}

export type CompareVersions = (organisationId: string, from: StoredVersion, to: StoredVersion) => Promise<VersionDiff>;

/** Compares in a thread: a definition can be written so that this takes 30 ms. */
export function createCompareVersions({ processorTime, onWorked }: CompareDeps): CompareVersions {
  const thread = createWorkThread<readonly [StoredVersion, StoredVersion], VersionDiff>({
    url: new URL("./version-diff-thread.ts", import.meta.url),
    processorTime,
    onWorked: (ms) => onWorked("comparison", ms),
  });
  return async (organisationId, from, to) => {
    assertComparable(from, to);
    const diff = await thread.ask(organisationId, [from, to]);
    if (typeof diff === "string")
      throw new ApiError("unavailable", "The comparison was interrupted. Try again in 5 s.", { retryAfterSeconds: 5 });
    return diff;
  };
}
