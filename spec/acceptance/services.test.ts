import { connect } from "node:net";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { expect, test } from "vitest";

test("PostgreSQL 17 with pgvector is real", async () => {
  const { rows } = await withClient(serviceUrl("PERCH_DATABASE_ADMIN_URL"), (client) =>
    client.query<{ version: number; vector: string }>(
      "select current_setting('server_version_num')::int / 10000 as version, (select default_version from pg_available_extensions where name = 'vector') as vector",
    ),
  );
  expect(rows).toEqual([{ version: 17, vector: expect.stringMatching(/^0\.[89]/) }]);
});

test("Valkey or Redis 7 and later is real", async () => {
  const { hostname, port } = new URL(serviceUrl("PERCH_VALKEY_URL"));
  const info = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write("INFO server\r\nQUIT\r\n"));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("end", () => resolve(text)).on("error", reject);
  });
  expect(info).toMatch(/(valkey|redis)_version:[7-9]/);
});

test("Restate is real", async () => {
  const version = await fetch(`${serviceUrl("PERCH_RESTATE_ADMIN_URL")}/version`).then((response) => response.json());
  expect(version).toMatchObject({ version: expect.stringMatching(/^1\.\d+/) });
  const ingress = await fetch(`${serviceUrl("PERCH_RESTATE_INGRESS_URL")}/restate/health`);
  expect(ingress.status).toBe(200);
});
