import { createDigest, deriveKey, type KeySource, sealerFor } from "../../platform/sealing.ts";
import type { Resource } from "../resource.ts";
import { erasureHandlers } from "./erasure-handlers.ts";
import { createErasureGauges } from "./erasure-metrics.ts";
import { type ResumeDeps, resumeErasures } from "./resume-erasures.ts";

export const erasureResource = {
  name: "erasures",
  tables: {
    erasures: {
      bound: "handled",
      users: {
        sealed_user: { kept: "until the erasure has completed, which needs it" },
        user_digest: { kept: "a keyed digest, which does not name the user" },
      },
    },
  },
  dataKeys: {
    /** The user of an erasure, while it runs. */
    erasedUsers: sealerFor("erasures"),
    /** Shows which data belongs to the same user, without naming the user. */
    userDigest: {
      purpose: "erasures",
      create: (key: KeySource) => createDigest(() => deriveKey(key(), "user digests")),
    },
  },
  audited: { erasures: "erasure", users: "erasure" },
  gauges: createErasureGauges,
  alerts: ["PerchErasureStuck"],
  handlers: erasureHandlers,
  housekeeping: (deps: ResumeDeps) => [{ name: "erasures", run: () => resumeErasures(deps) }],
} as const satisfies Resource;
