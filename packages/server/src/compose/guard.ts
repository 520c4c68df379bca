import type { SecondFactor } from "../mfa/second-factor.ts";
import { createGuardedClient } from "../platform/guarded-client.ts";
import { createGuard, type Guard } from "../security/guard.ts";
import { createAuthorities } from "../security/read-authorities.ts";
import { createVerifyOAuth } from "../security/verify-oauth.ts";
import type { Core } from "./core.ts";

/** What stands between a valid key and the handlers: the security settings of the instance and of agents. */
export function composeGuard(
  { config, agentAuth, nowMs }: Core,
  secondFactor: SecondFactor,
): {
  readonly guard: Guard;
  readonly close: () => Promise<void>;
} {
  const { security, outboundPrivateRanges } = config;
  // Tenants name the issuers: they are asked like any address that a tenant gave.
  const issuers = createGuardedClient({
    allowedRanges: outboundPrivateRanges,
    maxResponseBytes: 512 * 1024,
    timeoutMs: 5000,
  });
  const guard = createGuard({
    instance: security,
    agentAuth,
    verifyOAuth: createVerifyOAuth({ fetch: issuers.fetch, now: nowMs }),
    authorities: createAuthorities({ instance: security.mtls?.caCert, directory: security.certificates }, nowMs),
    secondFactor,
    now: nowMs,
  });
  return { guard, close: issuers.close };
}
