import type { Caller, Scope } from "../../auth/caller.ts";
import { findFactor } from "../../auth/factor-queries.ts";
import { enrolmentTtlMs, isValidEnrolment, signEnrolment } from "../../auth/mfa-rules.ts";
import { keyStatus } from "../../auth/presented-key.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { conflict, forbidden, notFound } from "../../platform/api-error.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { KeySource } from "../../platform/sealing.ts";
import { hasAgentWithMfa } from "../agents/agent-queries.ts";
import { findKeyForUpdate, type KeyRow } from "../keys/key-queries.ts";

export interface EnrolmentDeps {
  readonly enrolmentKey: KeySource;
  /** Whether the instance's settings demand a second factor. */
  readonly instanceDemandsMfa: boolean;
  readonly nowMs: () => number;
}

export const alreadyEnrolled = () => conflict("This key has a second factor already. Remove that one first.");

const mustBeBegun = (keyId: string) =>
  forbidden(
    `The security settings demand a second factor, so this key cannot enrol one by itself. Ask an admin to begin it with POST /v1/keys/${toPublicId("key", keyId)}/begin-mfa, and send the token in \`X-MFA-Code\`.`,
  );

const hasNoFactorItself = () =>
  forbidden(
    "The security settings demand a second factor, and this key has none: it cannot begin an enrolment. Use an admin key that has one, or ask the operator to run `perch-server begin-mfa`.",
  );

const hasFactor = async (trx: OrganisationTransaction, organisationId: string, keyId: string): Promise<boolean> =>
  (await findFactor(trx, { organisationId, keyId }))?.confirmed_at != null;

/** Whether anything that a key of this scope can reach demands a second factor. */
const isDemanded = async (deps: EnrolmentDeps, trx: OrganisationTransaction, scope: Scope): Promise<boolean> =>
  deps.instanceDemandsMfa || hasAgentWithMfa(trx, scope);

/**
 * If a second factor is required, a key enrols one only with an enrolment token, which a thief of the key does not
 * have.
 */
export async function refuseUnbegunEnrolment(
  deps: EnrolmentDeps,
  trx: OrganisationTransaction,
  scope: Scope,
  { keyId, token = "" }: { readonly keyId: string; readonly token: string | undefined },
): Promise<void> {
  if (isValidEnrolment(deps.enrolmentKey(), token, keyId, deps.nowMs())) return;
  if (await isDemanded(deps, trx, scope)) throw mustBeBegun(keyId);
}

/** The key, if a second factor can be enrolled for it. */
async function getKeyWithoutFactor(
  { nowMs }: EnrolmentDeps,
  trx: OrganisationTransaction,
  scope: Scope,
  publicId: string,
): Promise<KeyRow> {
  const id = parsePublicId("key", publicId);
  const key = id && (await findKeyForUpdate(trx, scope, id));
  if (!key) throw notFound("key", publicId);
  const status = keyStatus(key, new Date(nowMs()));
  if (status !== "active") throw conflict(`This key is ${status}. Begin the enrolment of another one.`);
  if (await hasFactor(trx, scope.organisationId, key.id)) throw alreadyEnrolled();
  return key;
}

/** Whether the caller that begins an enrolment has a second factor. A person has none; the operator needs none. */
const isTrustedCaller = async (
  trx: OrganisationTransaction,
  organisationId: string,
  caller: Pick<Caller, "keyId"> | "operator",
) => caller === "operator" || (caller.keyId !== null && (await hasFactor(trx, organisationId, caller.keyId)));

export async function beginEnrolment(
  deps: EnrolmentDeps,
  trx: OrganisationTransaction,
  scope: Scope,
  { publicId, caller }: { readonly publicId: string; readonly caller: Pick<Caller, "keyId"> | "operator" },
) {
  const key = await getKeyWithoutFactor(deps, trx, scope, publicId);
  const reach = { organisationId: scope.organisationId, onlyAgentId: key.agent_id };
  const isTrusted = await isTrustedCaller(trx, scope.organisationId, caller);
  if (!isTrusted && (await isDemanded(deps, trx, reach))) throw hasNoFactorItself();
  const expiresMs = deps.nowMs() + enrolmentTtlMs;
  const token = signEnrolment(deps.enrolmentKey(), key.id, expiresMs);
  return { key_id: toPublicId("key", key.id), token, expires_at: new Date(expiresMs).toISOString() };
}
