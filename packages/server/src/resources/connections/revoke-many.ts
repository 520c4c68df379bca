import type { RevocationResult } from "@perch/contract";
import type { GrantedConnection, RevokeAtProvider } from "./revoke-at-provider.ts";

/** `skipped`: it was not asked, because it or others of its organisation did not answer before, or because time is up. */
export type RevocationOutcome = Exclude<RevocationResult, "pending"> | "skipped";

interface RevokeManyOptions {
  readonly revokeAtProvider: RevokeAtProvider;
  readonly nowMs: () => number;
  /** No provider is asked after this time. */
  readonly untilMs: number;
}

const timeoutMs = 5000;
const atOnce = 10;
const maxFailuresOfOrganisation = 5;

/**
 * Asks providers for one pass of housekeeping. Those that do not answer cost the pass some seconds and not all of its time: the others
 * still have their turn.
 */
export function createRevokeMany({ revokeAtProvider, nowMs, untilMs }: RevokeManyOptions) {
  const silentIssuers = new Set<string>();
  const failures = new Map<string, number>();
  const keyOf = ({ organisation_id, issuer }: GrantedConnection) => `${organisation_id} ${issuer}`;

  const isSkipped = (organisationId: string): boolean =>
    nowMs() >= untilMs || (failures.get(organisationId) ?? 0) >= maxFailuresOfOrganisation;

  const revoke = async (row: GrantedConnection): Promise<RevocationOutcome> => {
    const { organisation_id: organisationId } = row;
    if (row.sealed_grant === null) return "not_offered";
    if (isSkipped(organisationId) || silentIssuers.has(keyOf(row))) return "skipped";
    const result = await revokeAtProvider(row, timeoutMs);
    if (result === "failed") {
      silentIssuers.add(keyOf(row));
      failures.set(organisationId, (failures.get(organisationId) ?? 0) + 1);
    }
    return result;
  };

  /** Ten of them at a time. */
  const each = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
    const left = items.values();
    const takeTurns = async () => {
      for (const item of left) await work(item);
    };
    await Promise.all(Array.from({ length: atOnce }, takeTurns));
  };

  return { isSkipped, revoke, each };
}
