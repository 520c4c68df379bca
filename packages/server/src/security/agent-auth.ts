import type { AgentAuth, ShownAuth } from "@perch/contract";
import type { Sealer } from "../platform/secrets.ts";

/** What of an agent's `auth` is secret. */
export interface AuthSecrets {
  readonly clientSecret?: string | undefined;
  readonly secret?: string;
  readonly previousSecret?: string | undefined;
}

interface Place {
  readonly organisationId: string;
  readonly agentId: string;
}

export interface StoredAuth {
  readonly shown: ShownAuth;
  readonly secrets: Buffer;
}

/** What is shown belongs to the place: a secret never goes to another provider than the one it was given for. */
const placeOf = ({ organisationId, agentId }: Place, shown: ShownAuth) =>
  JSON.stringify([organisationId, agentId, shown.type === "oauth2" ? [shown.provider, shown.clientId] : "jwt"]);

export function splitAuth(auth: AgentAuth): { readonly shown: ShownAuth; readonly secrets: AuthSecrets } {
  if (auth.type === "jwt") {
    const { type, secret, previousSecret } = auth;
    return { shown: { type, hasPreviousSecret: previousSecret !== undefined }, secrets: { secret, previousSecret } };
  }
  const { clientSecret, ...shown } = auth;
  return { shown: { ...shown, hasClientSecret: clientSecret !== undefined }, secrets: { clientSecret } };
}

export function sealAuth(sealer: Sealer, auth: AgentAuth, place: Place): StoredAuth {
  const { shown, secrets } = splitAuth(auth);
  return { shown, secrets: sealer.seal(JSON.stringify(secrets), placeOf(place, shown)) };
}

export const openAuth = (sealer: Sealer, { shown, secrets }: StoredAuth, place: Place): AuthSecrets =>
  JSON.parse(sealer.open(secrets, placeOf(place, shown))) as AuthSecrets;
