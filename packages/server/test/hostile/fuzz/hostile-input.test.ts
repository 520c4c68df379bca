import { Writable } from "node:stream";
import { operationKeys } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ok } from "../../support/contract-client.ts";
import { type Perch, startPerch } from "../../support/harness.ts";
import { connectionConfig } from "../../support/sample-connections.ts";
import { slowness } from "../../support/thread-time.ts";
import { sendFuzzRequests } from "./fuzz-run.ts";

/** With fewer, a class of answers may be missing by chance. */
const enough = 5000;
const usual = process.env.TEST_TIER === "required" ? 2000 : enough;
const requests = Number(process.env.TEST_FUZZ_REQUESTS ?? usual);
const seed = Number(process.env.TEST_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

const failures: string[] = [];
const logger = pino(
  { level: "error" },
  new Writable({
    write: (chunk, _, done) => {
      if (failures.length < 20) failures.push(String(chunk).slice(0, 3000));
      done();
    },
  }),
);

let perch: Perch & { readonly stop: () => Promise<void> };
beforeAll(async () => {
  perch = await startPerch(
    {
      ...connectionConfig,
      valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
      unauthenticatedRequestsPerMinute: 1_000_000,
    },
    { withWorker: true, logger },
  );
});
afterAll(() => perch.stop());

test(`${requests} valid, nearly valid and hostile requests get responses that the contract declares`, {
  timeout: 60_000 + requests * 30,
}, async () => {
  const tolerableMs = 100 * slowness();
  const startedAt = performance.now();
  console.log(`TEST_FUZZ_SEED=${seed} TEST_FUZZ_REQUESTS=${requests}`);
  const tally = await sendFuzzRequests(perch, { requests, seed, tolerableMs });
  const seconds = (performance.now() - startedAt) / 1000;
  const classes = [...tally.answers].toSorted(([, a], [, b]) => b - a).map(([name, count]) => `${count} × ${name}`);
  const { directed, random } = tally.sent;
  console.log(`${random} random and ${directed} directed requests in ${seconds.toFixed(0)} s: ${classes.join(", ")}`);
  console.log(`The longest turn of the event loop took ${tally.longestTurnMs.toFixed(0)} ms of processor time.`);
  const unlucky = operationKeys.filter((key) => !tally.succeeded.random.has(key));
  console.log(`No random request succeeded on ${unlucky.length} of ${operationKeys.length}: ${unlucky.join(", ")}`);
  const wrong = [...tally.problems.values()];
  expect(wrong, [...wrong, ...failures].join("\n\n")).toEqual([]);
  expect(failures).toEqual([]);
  expect(tally.longestTurnMs, "a turn of the event loop").toBeLessThanOrEqual(tolerableMs);
  // A new operation that is missing here needs a request in every-operation.ts.
  expect([...tally.succeeded.directed].toSorted()).toEqual(operationKeys.toSorted());
  if (requests < enough) return;
  for (const expected of [
    "200",
    "201",
    "202",
    "400 invalid_request",
    "400 media type",
    "401 unauthorized",
    "403 forbidden",
    "404 not_found",
    "409 conflict",
    "413 payload_too_large",
  ])
    expect(tally.answers.get(expected), `no answer was ${expected}`).toBeGreaterThan(0);
  expect(unlucky.length).toBeLessThan(operationKeys.length / 4);
});

test("afterwards the server answers as before, and no prototype has changed", async () => {
  const { call } = await perch.createOrganisation();
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  const answer = await call("POST /v1/agents/{agent_id}/invoke", {
    params: { agent_id: "bot" },
    body: { message: "still there?" },
  });
  expect(ok(answer).data.response).toBe("still there?");
  expect((await fetch(`${perch.url}/readyz`)).status).toBe(200);
  expect({}).not.toHaveProperty("polluted");
});

test("every row belongs to an organisation that exists and refers only to rows of that organisation", async () => {
  await withClient(perch.database.adminUrl, async (admin) => {
    const { rows } = await admin.query<{ table: string; agents: boolean }>(`
      select c.relname as table, bool_or(a.attname = 'agent_id') as agents
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname in ('organisation_id', 'agent_id')
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and not a.attisdropped
        group by 1 having bool_or(a.attname = 'organisation_id')`);
    expect(rows.length).toBeGreaterThan(5);
    for (const { table, agents } of rows) {
      const lost = `select 1 from ${table} t where not exists (select from organisations o where o.id = t.organisation_id)`;
      expect((await admin.query(lost)).rowCount, table).toBe(0);
      if (!agents) continue;
      const crossed = `select 1 from ${table} t join agents a on a.id = t.agent_id where a.organisation_id <> t.organisation_id`;
      expect((await admin.query(crossed)).rowCount, table).toBe(0);
    }
  });
});
