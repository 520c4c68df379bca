/** The thread behind `compare-versions.ts`. */
import { serveWork } from "../../fairness/serve-work.ts";
import { createDiff, type StoredVersion } from "./version-diff.ts";

serveWork(([from, to]: readonly [StoredVersion, StoredVersion]) => createDiff(from, to));
