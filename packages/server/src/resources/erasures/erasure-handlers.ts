import type { ErasureOperationKey } from "@perch/contract";
import type { Caller } from "../../auth/caller.ts";
import type { Database } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import { ApiError, forbidden, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import { cappedPage, maxCounted, single } from "../envelopes.ts";
import type { Erasure } from "../erasure-stage.ts";
import type { Handlers } from "../handlers.ts";
import * as queries from "./erasure-queries.ts";
import { firstProgress, maxOpenErasures } from "./erasure-rules.ts";
import { digestUser, sealUser } from "./seal-user.ts";
import { toErasure } from "./to-erasure.ts";

interface ErasureDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, "eraseUser">;
  readonly erasedUsers: Sealer;
  readonly userDigest: Digest;
  /** The parts of all resources, in the order of the receipt. */
  readonly receiptParts: Erasure["receipt"];
  readonly logger: Logger;
}

function requireOrganisationKey({ onlyAgentId }: Caller): void {
  if (onlyAgentId !== null)
    throw forbidden("This key belongs to one agent, and users are erased in all of them. Use an organisation's key.");
}

const tooManyOpen = () =>
  new ApiError(
    "rate_limited",
    `This organisation has ${maxOpenErasures} erasures under way, as many as it may. Try again when one has completed: \`GET /v1/erasures\` lists them.`,
    { retryAfterSeconds: 10 },
  );

export const erasureHandlers = ({ db, engine, erasedUsers, userDigest, receiptParts, logger }: ErasureDeps) => {
  /** The row counts: if the engine does not get the task now, housekeeping hands it over. */
  const handOver = (organisationId: string, id: string): void =>
    void engine.eraseUser({ organisationId, id }).catch((error: unknown) => {
      logger.warn({ err: error }, "erasure not handed to the engine yet, housekeeping will retry");
    });

  return {
    "DELETE /v1/users/{user_id}/data": async ({ params }, { caller, scope, change }) => {
      requireOrganisationKey(caller);
      const { organisationId } = scope;
      const { user_id: userId } = params;
      const digest = digestUser(userDigest, organisationId, userId);
      const key = { organisationId, id: newUuid() };
      const answer = await change(async (trx) => {
        await queries.lockErasures(trx, organisationId);
        const open = await queries.findOpenErasure(trx, organisationId, digest);
        if (open) return new Unchanged(single(toErasure(receiptParts, open, userId)));
        if ((await queries.countOpenErasures(trx, organisationId, maxOpenErasures)) >= maxOpenErasures)
          throw tooManyOpen();
        const sealedUser = sealUser(erasedUsers, userId, key);
        const row = await queries.insertErasure(trx, {
          ...key,
          userDigest: digest,
          sealedUser,
          progress: firstProgress,
        });
        return single(toErasure(receiptParts, row, userId));
      });
      handOver(organisationId, parsePublicId("erasure", answer.data.id) ?? key.id);
      return answer;
    },

    "GET /v1/erasures": async ({ query }, { caller, scope: { organisationId } }) => {
      requireOrganisationKey(caller);
      return db.inOrganisation(organisationId, async (trx) => {
        const rows = await queries.listErasures(trx, organisationId, query);
        const counted = await queries.countErasures(trx, organisationId, maxCounted + 1);
        return cappedPage(
          rows.map((row) => toErasure(receiptParts, row)),
          query,
          counted,
        );
      });
    },

    "GET /v1/erasures/{erasure_id}": async ({ params }, { caller, scope: { organisationId } }) => {
      requireOrganisationKey(caller);
      const id = parsePublicId("erasure", params.erasure_id);
      const row =
        id && (await db.inOrganisation(organisationId, (trx) => queries.findErasure(trx, { organisationId, id })));
      if (!row) throw notFound("erasure", params.erasure_id);
      return single(toErasure(receiptParts, row));
    },
  } satisfies Handlers<ErasureOperationKey>;
};
