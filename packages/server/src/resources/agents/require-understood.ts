import type { Database } from "../../db/database.ts";
import { findUnderstoodFeatures } from "../../db/releases.ts";
import { ApiError } from "../../platform/api-error.ts";
import { missingFrom } from "../../platform/release-features.ts";

/**
 * Refuses features that the workers which take new runs would skip. A definition without features costs nothing here.
 * The list is read each time: an earlier release may have been activated a moment ago.
 */
export async function requireUnderstood({ unscoped }: Pick<Database, "unscoped">, features: readonly string[]) {
  if (features.length === 0) return;
  const missing = missingFrom(await findUnderstoodFeatures(unscoped), features);
  if (missing.length === 0) return;
  throw new ApiError(
    "unavailable",
    `This agent uses ${missing.join(", ")}, and the release whose workers take new runs does not understand that. Try again when an operator has activated a release that does.`,
    { retryAfterSeconds: 30 },
  );
}
