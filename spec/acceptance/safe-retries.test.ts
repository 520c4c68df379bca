import { once } from "node:events";
import {
  createScratchDatabase,
  type ScratchDatabase,
  withClient,
} from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: ScratchDatabase;
let valkey: ValkeyProcess;
beforeAll(async () => {
  database = await createScratchDatabase();
  valkey = await startValkey();
  await runCommand(database, ["migrate"]);
});
afterAll(async () => {
  valkey.thaw();
  await valkey.kill();
  await database.drop();
});

test("a process killed between effect and answer: the retry gets the first answer, and the effect is there once", async () => {
  const apiKey = await runCommand(database, ["create-organisation", "--name", "Acme"]);
  const settings = { PERCH_VALKEY_URL: valkey.url };
  const request = (url: string) =>
    fetch(`${url}/v1/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "idempotency-key": "once" },
      body: JSON.stringify({ name: "made once", role: "viewer" }),
    });
  const made = async () =>
    withClient(
      database.adminUrl,
      async (client) => (await client.query("select id from api_keys where name = 'made once'")).rows,
    );

  const doomed = await startServer(database, settings);
  await fetch(`${doomed.url}/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } });
  // A frozen Valkey delays the process for a quarter of a second after the commit and before the answer, and the process is killed then.
  valkey.freeze();
  const exited = once(doomed.child, "exit");
  const first = request(doomed.url).then(
    ({ status }) => status,
    () => "no answer",
  );
  await expect.poll(async () => (await made()).length, { interval: 5 }).toBe(1);
  doomed.child.kill("SIGKILL");
  await exited;
  valkey.thaw();
  expect(await first).toBe("no answer");

  const next = await startServer(database, settings);
  const retry = await request(next.url);
  const body = (await retry.json()) as { data: { id: string; key: string } };
  expect(retry.status).toBe(201);
  expect(retry.headers.get("idempotent-replayed")).toBe("true");
  expect(await made()).toHaveLength(1);
  const works = await fetch(`${next.url}/v1/me`, { headers: { authorization: `Bearer ${body.data.key}` } });
  expect(works.status).toBe(200);
  await next.stop();
});
