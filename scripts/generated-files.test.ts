import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { expect, test } from "vitest";
import { configurationReference } from "../packages/server/src/config/config-reference.ts";
import { version } from "../packages/server/src/platform/version.ts";
import { createTestDatabase } from "../packages/server/test/support/test-database.ts";
import { agentFileSchema } from "./agent-file-schema.ts";
import { completeOpenApiDocument, typescriptSamplesFile } from "./code-samples/openapi-document.ts";
import { databaseRightsPage } from "./database-rights.ts";

const root = join(import.meta.dirname, "..");
const stale = "is stale: run pnpm generate";

test("openapi.json matches the operation table", async () => {
  const checkedIn = JSON.parse(await readFile(join(root, "packages/contract/openapi.json"), "utf8"));
  expect(checkedIn, `openapi.json ${stale}`).toEqual(JSON.parse(JSON.stringify(completeOpenApiDocument(version))));
});

test("the schema of agent files matches the contract", async () => {
  const checkedIn = JSON.parse(await readFile(join(root, "packages/cli/agent.schema.json"), "utf8"));
  expect(checkedIn, `agent.schema.json ${stale}`).toEqual(JSON.parse(JSON.stringify(agentFileSchema())));
});

test("the program with all TypeScript samples matches the examples", async () => {
  const checkedIn = await readFile(join(root, "packages/sdk/test/generated-code-samples.ts"), "utf8");
  expect(checkedIn, `generated-code-samples.ts ${stale}`).toBe(typescriptSamplesFile());
});

test("the configuration page matches the settings", async () => {
  expect(await readFile(join(root, "docs/operations/configuration.md"), "utf8"), `configuration.md ${stale}`).toBe(
    configurationReference(),
  );
});

test("row types match the migrations", async () => {
  const database = await createTestDatabase();
  const folder = join(root, "packages/server");
  const generator = join(folder, "node_modules/.bin/kysely-codegen");
  const args = [
    "--dialect",
    "postgres",
    "--exclude-pattern",
    "kysely_*",
    "--print",
    "--log-level",
    "silent",
    "--url",
    database.ownerUrl,
  ];
  const { stdout } = await promisify(execFile)(generator, args, { cwd: folder });
  await database.drop();
  const checkedIn = await readFile(join(folder, "src/db/generated-rows.ts"), "utf8");
  expect(checkedIn).toContain("export interface Agents");
  expect(checkedIn.trim(), `generated-rows.ts ${stale}`).toBe(stdout.trim());
});

test("the page of database rights matches the catalogue", async () => {
  const database = await createTestDatabase();
  const [generated, planted] = await withClient(database.ownerUrl, async (client) => {
    const current = await databaseRightsPage(client);
    await client.query("grant delete on audit_log to perch_app");
    return [current, await databaseRightsPage(client)];
  });
  await database.drop();
  const checkedIn = await readFile(join(root, "docs/database-rights.md"), "utf8");
  expect(checkedIn, `database-rights.md ${stale}`).toBe(generated);
  expect(planted).toContain("| `audit_log`, `session_messages` | select, insert, delete | nothing |");
});
