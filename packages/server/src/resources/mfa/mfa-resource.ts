import { digestFor, keyFor, sealerFor } from "../../platform/sealing.ts";
import type { Resource } from "../resource.ts";
import { mfaHandlers } from "./mfa-handlers.ts";

export const mfaResource = {
  name: "second factors",
  // They go with their key.
  tables: { key_factors: { bound: "fixed" } },
  dataKeys: {
    factorSecrets: sealerFor("second factors"),
    recoveryDigest: digestFor("recovery codes"),
    stepUpKey: keyFor("step-up tokens"),
    enrolmentKey: keyFor("enrolment tokens"),
  },
  audited: { mfa: "mfa" },
  handlers: mfaHandlers,
} as const satisfies Resource;
