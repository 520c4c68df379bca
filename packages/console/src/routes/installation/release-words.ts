import type { InstalledRelease } from "@perch/sdk";

const runsWords = (runs: number): string => (runs === 1 ? "1 run" : `${runs.toLocaleString("en")} runs`);

/** What the operator should do with the workers of a release. */
export function describeRelease({ state, runs }: Pick<InstalledRelease, "state" | "runs">): string {
  switch (state) {
    case "takes_new_runs":
      return "New runs begin here.";
    case "ends_its_runs":
      return `${runsWords(runs)} can end only here; keep its workers running.`;
    case "superseded":
      return "Another release took over just now. Keep its workers for another minute.";
    case "can_be_retired":
      return "No run needs it. Its workers may stop.";
    case "has_no_worker_yet":
      return "It is active, and none of its workers has registered. Start them.";
  }
}
