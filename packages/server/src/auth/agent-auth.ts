import type { AgentAuth, RedactedAuth } from "@perch/contract";
import type { AgentKey } from "../platform/agent-key.ts";
import type { Sealer } from "../platform/sealing.ts";

/** The secret fields of an agent's `auth`. */
export interface AuthSecrets {
  readonly clientSecret?: string | undefined;
  readonly secret?: string;
  readonly previousSecret?: string | undefined;
}

export interface StoredAuth {
  readonly redacted: RedactedAuth;
  readonly secrets: Buffer;
}

/** Binds the secrets to the agent and the provider: they cannot be decrypted for, and sent to, another provider. */
const toAssociatedData = ({ organisationId, agentId }: AgentKey, redacted: RedactedAuth) =>
  JSON.stringify([
    organisationId,
    agentId,
    redacted.type === "oauth2" ? [redacted.provider, redacted.clientId] : "jwt",
  ]);

export function splitAuth(auth: AgentAuth): { readonly redacted: RedactedAuth; readonly secrets: AuthSecrets } {
  if (auth.type === "jwt") {
    const { type, secret, previousSecret } = auth;
    return { redacted: { type, hasPreviousSecret: previousSecret !== undefined }, secrets: { secret, previousSecret } };
  }
  const { clientSecret, ...redacted } = auth;
  return { redacted: { ...redacted, hasClientSecret: clientSecret !== undefined }, secrets: { clientSecret } };
}

export function sealAuth(sealer: Sealer, auth: AgentAuth, agent: AgentKey): StoredAuth {
  const { redacted, secrets } = splitAuth(auth);
  return { redacted, secrets: sealer.seal(JSON.stringify(secrets), toAssociatedData(agent, redacted)) };
}

export const openAuth = (sealer: Sealer, { redacted, secrets }: StoredAuth, agent: AgentKey): AuthSecrets =>
  JSON.parse(sealer.open(secrets, toAssociatedData(agent, redacted))) as AuthSecrets;
