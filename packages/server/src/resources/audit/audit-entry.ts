import { dataPlaneOperations, type OperationKey, operations } from "@perch/contract";
import type { Caller } from "../../auth/caller.ts";
import { auditedName } from "../../auth/person-rules.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { toPublicId } from "../../platform/ids.ts";
import { insertAuditEntry, type NewAuditEntry } from "./audit-queries.ts";
import { changedResourceOf, fieldsOf } from "./audit-rules.ts";

/** The facts of a request that the audit log records. */
export interface AuditedRequest {
  readonly key: OperationKey;
  readonly resourceType: string;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly address: string;
  readonly correlationId: string;
}

export type RecordChange = (trx: OrganisationTransaction, response: unknown) => Promise<void>;

/** Whether an operation is recorded: changes to resources are, the work that agents do is not. */
export const isAudited = (key: OperationKey): boolean =>
  !key.startsWith("GET ") && !dataPlaneOperations.includes(operations[key].id);

export const toNewEntry = (
  { key, resourceType, caller, params, body, address, correlationId }: AuditedRequest,
  response: unknown,
  result: Pick<NewAuditEntry, "outcome"> & { readonly reason?: string },
): NewAuditEntry => {
  const fields = fieldsOf(body);
  const changed = changedResourceOf(response, params);
  // A second factor has no id of its own: it belongs to the calling key.
  const ofCaller = resourceType === "mfa" && caller.keyId !== null ? toPublicId("key", caller.keyId) : null;
  const person = caller.session?.person;
  return {
    actor: caller.user?.by ?? (person ? "person" : "key"),
    keyId: caller.keyId,
    userId: caller.user?.id ?? null,
    person: person ? auditedName(person) : null,
    sessionId: caller.session?.id ?? null,
    operation: operations[key].id,
    resourceType,
    ...changed,
    resource: changed.resource ?? ofCaller,
    address,
    correlationId,
    outcome: result.outcome,
    details: { ...(fields.length > 0 && { fields }), ...(result.reason !== undefined && { reason: result.reason }) },
  };
};

/** Runs in the transaction of the change, once its response is known; undefined if the operation is not audited. */
export const createRecordChange = (request: AuditedRequest): RecordChange | undefined =>
  isAudited(request.key)
    ? (trx, response) =>
        insertAuditEntry(
          trx,
          request.caller.organisation.id,
          toNewEntry(request, response, {
            outcome: "changed",
            ...(request.caller.usesGracePeriod && {
              reason: "Without a user's token: this key set `auth` within the hour.",
            }),
          }),
        )
    : undefined;

/** For operators' commands, unauthenticated operations, and changes that Perch makes by itself. */
export const insertEntryWithoutCaller = (
  trx: OrganisationTransaction,
  organisationId: string,
  entry: Pick<NewAuditEntry, "actor" | "operation" | "resourceType" | "resource"> &
    Partial<Pick<NewAuditEntry, "address" | "correlationId" | "details" | "agent" | "keyId" | "person" | "sessionId">>,
): Promise<void> =>
  insertAuditEntry(trx, organisationId, {
    keyId: null,
    userId: null,
    person: null,
    sessionId: null,
    agent: null,
    address: null,
    correlationId: null,
    outcome: "changed",
    details: {},
    ...entry,
  });
