import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import type { OrganisationTransaction } from "../db/database.ts";
import type { BytesSealer, Digest, Sealer } from "../platform/sealing.ts";
import type { QuotaHolder, Quotas } from "../resources/quotas/quotas.ts";
import { insertAnswer, insertContent, lockContent, type StoredAnswer } from "./answer-queries.ts";

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

/** A longer answer is stored once for all requests that get it. */
const maxOwnBytes = 2048;

export interface KeptAnswersDeps {
  readonly answers: Sealer;
  readonly contents: BytesSealer;
  readonly bodyDigest: Digest;
  readonly quotas: Pick<Quotas, "requireSpace">;
}

interface AnswerToKeep extends Pick<StoredAnswer, "key_id" | "fingerprint" | "status"> {
  readonly request: Buffer;
  readonly owner: Buffer | null;
  readonly text: string;
}

/** The answers that a retry gets. Each is bound to its request, also if it shares its content with others. */
export function createKeptAnswers({ answers, contents, bodyDigest, quotas }: KeptAnswersDeps) {
  const contextOf = (organisationId: string, request: Buffer) => `${organisationId} ${request.toString("hex")}`;
  const contextOfContent = (organisationId: string, content: Buffer) =>
    `content ${organisationId} ${content.toString("hex")}`;

  /** Stores the content unless it is stored. Returns how many bytes that took. */
  const keepContent = async (
    trx: OrganisationTransaction,
    organisation: QuotaHolder,
    content: Buffer,
    { text, owner }: AnswerToKeep,
  ): Promise<number> => {
    const { id } = organisation;
    if (await lockContent(trx, id, content)) return 0;
    quotas.requireSpace(organisation, ["recordBytes"]);
    const body = contents.seal(await compress(text), contextOfContent(id, content));
    await insertContent(trx, id, { digest: content, owner, body });
    return body.length;
  };

  return {
    keep: async (trx: OrganisationTransaction, organisation: QuotaHolder, answer: AnswerToKeep): Promise<void> => {
      const { text, ...row } = answer;
      const { id } = organisation;
      const context = contextOf(id, row.request);
      if (Buffer.byteLength(text) <= maxOwnBytes) {
        const body = answers.seal(text, context);
        return insertAnswer(trx, id, { ...row, body, content: null }, body.length);
      }
      const content = bodyDigest(`content ${row.owner?.toString("hex") ?? ""} ${text}`);
      const bytes = await keepContent(trx, organisation, content, answer);
      const body = answers.seal(content.toString("hex"), contextOfContent(context, content));
      return insertAnswer(trx, id, { ...row, body, content }, bytes + body.length);
    },
    open: async (organisationId: string, request: Buffer, stored: StoredAnswer): Promise<string> => {
      const { body, content, content_body: sealed } = stored;
      const context = contextOf(organisationId, request);
      if (content === null) return answers.open(body, context);
      if (sealed === null) throw new Error("the content of a kept answer is missing");
      // Throws unless this content was stored for this request.
      answers.open(body, contextOfContent(context, content));
      return (await decompress(contents.open(sealed, contextOfContent(organisationId, content)))).toString();
    },
  };
}
