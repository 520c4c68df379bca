import { dataPlaneOperations, type OperationKey, operations } from "@perch/contract";
import type { OrganisationTransaction } from "../db/database.ts";
import type { Caller } from "../handlers.ts";
import { toPublicId } from "../platform/ids.ts";
import { insertAudit, type NewAuditEntry } from "./audit-queries.ts";
import { changedBy, fieldsOf, resourceTypeOf } from "./audit-rules.ts";

/** A request, as the audit log tells of it. */
export interface AuditedRequest {
  readonly key: OperationKey;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly address: string;
  readonly requestId: string;
}

export type RecordChange = (trx: OrganisationTransaction, answer: unknown) => Promise<void>;

/** Whether the audit log tells of an operation: of changes to what there is, not of the work that agents do. */
export const isAudited = (key: OperationKey): boolean =>
  !key.startsWith("GET ") && !dataPlaneOperations.includes(operations[key].id);

export const entryOf = (
  { key, caller, params, body, address, requestId }: AuditedRequest,
  answer: unknown,
  verdict: Pick<NewAuditEntry, "outcome"> & { readonly reason?: string },
): NewAuditEntry => {
  const fields = fieldsOf(body);
  const changed = changedBy(answer, params);
  return {
    actor: caller.user?.by ?? "key",
    keyId: caller.keyId,
    userId: caller.user?.id ?? null,
    operation: operations[key].id,
    resourceType: resourceTypeOf(key),
    ...changed,
    // What has no id of its own belongs to the key that asks.
    resource: changed.resource ?? toPublicId("key", caller.keyId),
    address,
    requestId,
    outcome: verdict.outcome,
    details: { ...(fields.length > 0 && { fields }), ...(verdict.reason !== undefined && { reason: verdict.reason }) },
  };
};

/** What `change` calls in its own transaction, once the change is made and its answer known. */
export const recordChange = (request: AuditedRequest): RecordChange | undefined =>
  isAudited(request.key)
    ? (trx, answer) =>
        insertAudit(trx, request.caller.organisation.id, entryOf(request, answer, { outcome: "changed" }))
    : undefined;

/** What an operator's command or a public operation leaves. */
export const insertOutsideEntry = (
  trx: OrganisationTransaction,
  organisationId: string,
  entry: Pick<NewAuditEntry, "actor" | "operation" | "resourceType" | "resource"> &
    Partial<Pick<NewAuditEntry, "address" | "requestId" | "details" | "agent">>,
): Promise<void> =>
  insertAudit(trx, organisationId, {
    keyId: null,
    userId: null,
    agent: null,
    address: null,
    requestId: null,
    outcome: "changed",
    details: {},
    ...entry,
  });
