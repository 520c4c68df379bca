import type { ApprovalStatus, Decider } from "@perch/contract";
import { type Caller, isSameIdentity } from "../../auth/caller.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Digest } from "../../platform/sealing.ts";
import type { Transitions } from "../transitions.ts";

/** The states of an approval. ARCHITECTURE.md shows the same table as a diagram. */
export const approvalTransitions = {
  ask: { from: [null], to: "open" },
  approve: { from: ["open"], to: "approved" },
  reject: { from: ["open"], to: "rejected" },
  answer: { from: ["open"], to: "answered" },
  expire: { from: ["open"], to: "expired" },
  cancel: { from: ["open"], to: "cancelled" },
  delete: { from: ["open", "approved", "rejected", "answered", "expired", "cancelled"], to: null },
} as const satisfies Transitions<ApprovalStatus>;

export const waitingRunStatuses = ["waiting", "ready", "continued"] as const;
type WaitingRunStatus = (typeof waitingRunStatuses)[number];

/** The states of a run's row among those that wait. It stays until the run has ended, which may wait again. */
export const waitingRunTransitions = {
  wait: { from: [null, "continued"], to: "waiting" },
  decide: { from: ["waiting"], to: "ready" },
  continue: { from: ["ready"], to: "continued" },
  delete: { from: ["waiting", "ready", "continued"], to: null },
} as const satisfies Transitions<WaitingRunStatus>;

/** Its arguments have their keys in order: the same arguments have the same digest, however they were written. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, canonical(each)]));
};

/**
 * The digest that a decision is bound to. It is keyed, because callers that may not see the arguments see it, and could
 * test guesses of them.
 */
export const callDigest = (
  digest: Digest,
  { id, tool }: { readonly id: string; readonly tool: string },
  args: unknown,
): Buffer => digest(JSON.stringify([id, tool, canonical(args)]));

/** Who started a run or wants to decide on it, with those who made or changed its key. */
export interface Known {
  readonly identity: string;
  readonly creators: readonly string[];
}

const names = (creators: readonly string[], identity: string): boolean =>
  creators.some((creator) => isSameIdentity(creator, identity));

/** What the voter is to the run, if the decision is therefore left to others. */
export function tieToInvoker(invoker: Known, voter: Known): "invoker" | "creator" | "created" | undefined {
  if (isSameIdentity(invoker.identity, voter.identity)) return "invoker";
  if (names(invoker.creators, voter.identity)) return "creator";
  return names(voter.creators, invoker.identity) ? "created" : undefined;
}

/** The decider, as answers and the log name it. */
export function deciderOf({ keyId, keyName, session }: Caller): Decider {
  const person = session?.person;
  if (person) return { type: "person", key_id: null, webhook_id: null, name: person.email ?? person.name ?? keyName };
  return { type: "key", key_id: keyId && toPublicId("key", keyId), webhook_id: null, name: keyName };
}
