import { createSealer, deriveKey, digestFor, type KeySource, sealerFor } from "../../platform/sealing.ts";
import type { Resource } from "../resource.ts";
import { consoleSessionHandlers } from "./console-session-handlers.ts";
import { createSignInMetrics } from "./sign-in-metrics.ts";

const isStaff = { kept: "a person who signs in to the console, not a user of an agent" } as const;

export const consoleSessionResource = {
  name: "console sessions",
  tables: {
    console_sessions: {
      bound: "fixed",
      // The audit log records each sign-in.
      purge: { function: "purge_console_sessions", keptDays: [1] },
      users: { person_name: isStaff, subject: isStaff },
    },
  },
  dataKeys: {
    /** Digests tokens of sessions, and links. */
    sessionDigest: digestFor("console sessions"),
    /** Tokens with which the issuer is asked about a person again. */
    personTokens: sealerFor("person tokens"),
    /** The state that a browser stores while a person signs in. */
    signInStates: {
      purpose: "person tokens",
      create: (key: KeySource) => createSealer(() => deriveKey(key(), "sign-in states")),
    },
  },
  audited: { console: "console_session" },
  metrics: createSignInMetrics,
  alerts: ["PerchIssuerUnavailable"],
  handlers: consoleSessionHandlers,
} as const satisfies Resource;
