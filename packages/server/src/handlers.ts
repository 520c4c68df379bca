import type { InputOf, OperationKey, Operations, Permission, ResponseOf, Role, Tier } from "@perch/contract";

/** Who is calling, as far as the presented key tells. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly organisation: { readonly id: string; readonly name: string; readonly tier: Tier };
  /** The one agent this key reaches, or null for all of the organisation. */
  readonly agentId: string | null;
  readonly role: Role | null;
  readonly permissions: ReadonlySet<Permission>;
  readonly expiresAt: Date | null;
}

/** What of the organisation the caller may see. Every query takes it. */
export interface Scope {
  readonly organisationId: string;
  readonly agentId: string | null;
}

export interface RequestContext {
  readonly requestId: string;
  readonly caller: Caller;
  readonly scope: Scope;
}

export type Handler<K extends OperationKey> = (
  input: InputOf<Operations[K]>,
  context: RequestContext,
) => Promise<ResponseOf<Operations[K]>>;

/** One handler for each operation of the table: a missing one is a compile error. */
export type Handlers<K extends OperationKey = OperationKey> = { readonly [P in K]: Handler<P> };
