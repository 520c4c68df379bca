import { setTimeout as sleep } from "node:timers/promises";
import type { PersonTokens } from "../../auth/openid-client.ts";
import type { Database } from "../../db/database.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { openTokens, type PeopleSource, sealTokens } from "./people.ts";
import * as queries from "./person-session-queries.ts";

export interface PersonSessionRef {
  readonly organisationId: string;
  readonly sessionId: string;
}

/** The right of this node to ask the issuer about a session, which no other node has at the same time. */
export interface PersonCheckClaim {
  readonly row: queries.CheckClaim;
  /** To ask with. Undefined if there are none, or they were not sealed for this session. */
  readonly tokens: PersonTokens | undefined;
  /** Stores the tokens that the issuer gave in exchange, so that they can be used again whatever comes next. */
  readonly keep: (tokens: PersonTokens) => Promise<void>;
  readonly release: () => Promise<void>;
}

interface ClaimDeps {
  readonly db: Database;
  readonly source: Pick<PeopleSource, "sealer">;
  readonly logger: Logger;
}

/** Longer than an issuer's answer may take. A node that dies in the meantime delays the session for this long. */
const claimMs = 20_000;
const retryMs = 250;

/** Claims a session's check. Undefined if another node has it, or the session has been checked since. */
export const createClaimPersonCheck =
  ({ db, source: { sealer }, logger }: ClaimDeps) =>
  async (ref: PersonSessionRef, checkedAt: Date): Promise<PersonCheckClaim | undefined> => {
    const { organisationId, sessionId } = ref;
    const endsAtMs = performance.now() + claimMs;
    const row = await db.inOrganisation(organisationId, (trx) =>
      queries.claimCheck(trx, organisationId, sessionId, { checkedAt, claimMs }),
    );
    if (!row) return undefined;

    /** The only copy is here: without it, the issuer would refuse the person's session the next time. */
    const store = async (sealed: Buffer): Promise<void> => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await db.inOrganisation(organisationId, (trx) =>
            queries.updateClaimedTokens(trx, organisationId, sessionId, row, sealed),
          );
        } catch (error) {
          if (performance.now() + retryMs >= endsAtMs) throw error;
          const session = toPublicId("consoleSession", sessionId);
          if (attempt === 1)
            logger.warn({ sessionId: session, err: error }, "new tokens of a session were not stored, will retry");
          await sleep(retryMs, undefined, { ref: false });
        }
      }
    };

    const tokens = row.sealedTokens ? openTokens(sealer, ref, row.sealedTokens) : undefined;
    return {
      row,
      tokens,
      keep: async (given) => {
        if (given !== tokens) await store(sealTokens(sealer, ref, given));
      },
      release: () =>
        db.inOrganisation(organisationId, (trx) => queries.updateCheckReleased(trx, organisationId, sessionId, row)),
    };
  };
