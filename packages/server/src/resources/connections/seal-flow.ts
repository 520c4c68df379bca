import type { ConsentRef } from "../../auth/connection-token.ts";
import type { ConsentSecrets, OAuthConfiguration } from "../../outbound/oauth/oauth-client.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";

/** The stored state of a consent under way. */
export interface ConsentFlow {
  readonly configuration: OAuthConfiguration;
  /** The target of the tokens (`tokenTarget`), as the definition had it when the link was created. */
  readonly target: string;
  /** Once the browser is at the provider. */
  readonly secrets?: ConsentSecrets;
  /** The query with which the provider sent the browser back. */
  readonly callback?: string;
}

const associatedDataFor = ({ organisationId, connectionId }: ConsentRef): string =>
  JSON.stringify(["flow", organisationId, connectionId]);

export const sealFlow = (sealer: Sealer, flow: ConsentFlow, consent: ConsentRef): Buffer =>
  sealer.seal(JSON.stringify(flow), associatedDataFor(consent));

/** Throws if the row was changed in the database. */
export const openFlow = (sealer: Sealer, sealed: Buffer, consent: ConsentRef): ConsentFlow =>
  JSON.parse(sealer.open(sealed, associatedDataFor(consent))) as ConsentFlow;

/**
 * The secret that must be presented at a step. Each step has its own digest of the same text, so that a secret is valid
 * at one step only.
 */
type StepSecret = "link" | "state" | "browser" | "code";

export const digestStep = (digest: Digest, step: StepSecret, secret: string): Buffer => digest(`${step} ${secret}`);
