import { createGuard, type Guard } from "../api/guard.ts";
import { createReadAuthorities } from "../auth/read-authorities.ts";
import type { SecondFactor } from "../auth/second-factor.ts";
import { createVerifyOAuth } from "../auth/verify-oauth.ts";
import { createGuardedClient } from "../outbound/guarded-client.ts";
import type { Core } from "./core.ts";

/** Enforces the security settings of the instance and of agents, between key check and handler. */
export function composeGuard(
  { config, nowMs, shares, keys, outbound }: Core,
  secondFactor: SecondFactor,
): {
  readonly guard: Guard;
  readonly close: () => Promise<void>;
} {
  const { security, outboundAllowedPrivateRanges } = config;
  // Organisations configure the issuers, so they are called through a guarded client.
  const issuers = createGuardedClient({
    allowedRanges: outboundAllowedPrivateRanges,
    own: outbound.ownAddresses,
    maxResponseBytes: 512 * 1024,
    timeoutMs: 5000,
  });
  const guard = createGuard({
    instance: security,
    agentAuth: keys.agentAuth,
    verifyOAuth: createVerifyOAuth({ fetch: issuers.fetch, now: nowMs, share: shares.of.introspections }),
    readAuthorities: createReadAuthorities(
      { instance: security.mtls?.caCert, directory: security.certificates },
      nowMs,
    ),
    secondFactor,
    now: nowMs,
  });
  return { guard, close: issuers.close };
}
