import { inflateRawSync } from "node:zlib";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { Redis } from "iovalkey";
import { openCall, openDecision } from "../../../src/resources/approvals/seal-approval.ts";
import { openWaitingState } from "../../../src/resources/waiting-runs/waiting-state.ts";
import { openContents } from "../../../src/runs/record/seal-contents.ts";
import type { Perch } from "../harness.ts";
import { containsEncoded, readDatabaseRows, readEngineTables } from "../stored-texts.ts";

/** Every value in Valkey, with its key. */
async function readValkey(url: string): Promise<string> {
  const valkey = new Redis(url);
  const readers: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => valkey.get(key),
    hash: (key) => valkey.hgetall(key),
    zset: (key) => valkey.zrange(key, 0, -1),
    set: (key) => valkey.smembers(key),
    list: (key) => valkey.lrange(key, 0, -1),
    stream: (key) => valkey.xrange(key, "-", "+"),
  };
  try {
    const entries = [];
    for (const key of await valkey.keys("*")) {
      const type = await valkey.type(key);
      // A row that expired in between.
      if (type === "none") continue;
      const read = readers[type];
      if (!read) throw new Error(`${key} is a ${type}, which is not read here`);
      entries.push([key, await read(key)]);
    }
    return JSON.stringify(entries);
  } finally {
    valkey.disconnect();
  }
}

/**
 * Encrypted columns that can contain a user's text: stored answers, contents of steps, the state of waiting runs, and
 * the texts of approvers.
 */
const openSealed = ({ database, server: { core } }: Perch): Promise<string> =>
  withClient(database.adminUrl, async (admin) => {
    const answers = await admin.query(
      "select organisation_id, encode(request, 'hex') as request, body from idempotent_answers where content is null",
    );
    const longAnswers = await admin.query(
      "select organisation_id, encode(digest, 'hex') as digest, body from answer_contents",
    );
    const contents = await admin.query(
      `select c.organisation_id, c.id, c.sealed, i.agent_id from run_contents c
         join invocations i on i.organisation_id = c.organisation_id and i.id = c.id`,
    );
    const { rowCount } = await admin.query("select from run_contents");
    if (rowCount !== contents.rowCount) throw new Error("there are contents without a run");
    const waiting = await admin.query("select organisation_id, id, cut, sealed from waiting_runs");
    const approvals = await admin.query("select organisation_id, id, sealed_call, sealed_decision from approvals");
    return JSON.stringify([
      ...waiting.rows.map(({ organisation_id: organisationId, id, cut, sealed }) =>
        openWaitingState(core.keys.approvalContents, { organisationId, id, cut }, sealed),
      ),
      ...approvals.rows.flatMap(({ organisation_id: organisationId, id, sealed_call, sealed_decision }) => [
        sealed_call.length > 0 && openCall(core.keys.approvalContents, sealed_call, { organisationId, id }),
        openDecision(core.keys.approvalContents, sealed_decision, { organisationId, id }),
      ]),
      ...answers.rows.map(({ organisation_id, request, body }) =>
        core.keys.idempotentAnswers.open(body, `${organisation_id} ${request}`),
      ),
      ...longAnswers.rows.map(({ organisation_id, digest, body }) =>
        inflateRawSync(core.keys.answerContents.open(body, `content ${organisation_id} ${digest}`)).toString(),
      ),
      ...contents.rows.map(({ organisation_id: organisationId, id, sealed, agent_id: agentId }) =>
        openContents(core.keys.runContents, sealed, { organisationId, agentId, id }),
      ),
    ]);
  });

/** The places in which a word is found, in any form: by table, and in the other stores. */
export async function findTraces(perch: Perch, word: string): Promise<string[]> {
  const { adminUrls, valkeyUrl } = perch.server.core.config;
  const tables = (await readDatabaseRows(perch.database.adminUrl)).split("\n").filter((line) => line !== "");
  const places: [string, string][] = [
    ...tables.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line]),
    ["sealed values", await openSealed(perch)],
    ["engine", await readEngineTables({ adminUrls })],
    ["valkey", valkeyUrl ? await readValkey(valkeyUrl) : ""],
  ];
  return places.filter(([, text]) => containsEncoded(text, word)).map(([name]) => name);
}
