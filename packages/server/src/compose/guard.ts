import type { SecondFactor } from "../mfa/second-factor.ts";
import { createGuardedClient } from "../platform/guarded-client.ts";
import { createGuard, type Guard } from "../security/guard.ts";
import { createReadAuthorities } from "../security/read-authorities.ts";
import { createVerifyOAuth } from "../security/verify-oauth.ts";
import type { Core } from "./core.ts";

/** Enforces the security settings of the instance and of agents, between key check and handler. */
export function composeGuard(
  { config, agentAuth, nowMs }: Core,
  secondFactor: SecondFactor,
): {
  readonly guard: Guard;
  readonly close: () => Promise<void>;
} {
  const { security, outboundAllowedPrivateRanges } = config;
  // Organisations configure the issuers, so they are called through a guarded client.
  const issuers = createGuardedClient({
    allowedRanges: outboundAllowedPrivateRanges,
    maxResponseBytes: 512 * 1024,
    timeoutMs: 5000,
  });
  const guard = createGuard({
    instance: security,
    agentAuth,
    verifyOAuth: createVerifyOAuth({ fetch: issuers.fetch, now: nowMs }),
    readAuthorities: createReadAuthorities(
      { instance: security.mtls?.caCert, directory: security.certificates },
      nowMs,
    ),
    secondFactor,
    now: nowMs,
  });
  return { guard, close: issuers.close };
}
