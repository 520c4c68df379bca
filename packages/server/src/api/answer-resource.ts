import { sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import { createBytesSealer, createDigest, deriveKey, type KeySource, sealerFor } from "../platform/sealing.ts";
import type { Counts, ErasedUser, EraseStage } from "../resources/erasure-stage.ts";
import { addCounts } from "../resources/erasures/erasure-rules.ts";
import { ownerForUser } from "../resources/memory/memory-rules.ts";
import type { Resource } from "../resources/resource.ts";

async function deleteAnswers(
  trx: OrganisationTransaction,
  { organisationId, userId }: ErasedUser,
  owner: Buffer,
  last: Date | "infinity",
): Promise<Counts> {
  const { rows } = await sql<{ counts: Counts }>`
    select erase_answers_and_clears(${organisationId}, ${owner}, ${ownerForUser(userId)}, ${last}::timestamptz) as counts`.execute(
    trx,
  );
  return rows[0]?.counts ?? {};
}

/** Deletes stored answers that contain a text of the user, and the ended clears of the user's memory. */
const eraseAnswers: EraseStage = {
  name: "answers",
  erase: async (trx, user) => {
    const own = await deleteAnswers(trx, user, user.digests.user, user.until);
    // An answer that shows a run may be younger than the erasure. One of a later run goes too: cancelling twice does no harm.
    const ofRuns = await deleteAnswers(trx, user, user.digests.runs, "infinity");
    return { counts: addCounts(own, ofRuns) };
  },
};

/** Answers that are stored for an Idempotency-Key. */
export const answerResource = {
  name: "answers",
  tables: {
    idempotent_answers: { bound: "partitions", users: { owner: { by: "erase_answers_and_clears" } } },
    answer_contents: { bound: "partitions", users: { owner: { by: "erase_answers_and_clears" } } },
  },
  dataKeys: {
    idempotentAnswers: sealerFor("idempotent answers"),
    answerContents: {
      purpose: "idempotent answers",
      create: (key: KeySource) => createBytesSealer(() => deriveKey(key(), "answer contents")),
    },
    idempotentBodies: {
      purpose: "idempotent answers",
      create: (key: KeySource) => createDigest(() => deriveKey(key(), "idempotent bodies")),
    },
  },
  erasure: {
    stages: () => [eraseAnswers],
    receipt: {
      kept_answers: { store: "database", data: "answers kept for an Idempotency-Key", action: "deleted" },
    },
  },
} as const satisfies Resource;
