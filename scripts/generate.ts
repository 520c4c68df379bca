import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScratchDatabase, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { operationKeys, operations } from "../packages/contract/src/index.ts";
import server from "../packages/server/package.json" with { type: "json" };
import { configurationReference } from "../packages/server/src/config/config-reference.ts";
import { migrate } from "../packages/server/src/db/migrate.ts";
import { isAudited } from "../packages/server/src/resources/audit/audit-entry.ts";
import { agentFileSchema } from "./agent-file-schema.ts";
import { completeOpenApiDocument, typescriptSamplesFile } from "./code-samples/openapi-document.ts";
import { databaseRightsPage } from "./database-rights.ts";
import { generateSources } from "./typescript-sdk/generate-sources.ts";
import type { OpenApiDocument } from "./typescript-sdk/openapi-types.ts";

/** Rewrites every checked-in file that is made from another. Tests fail when one is stale. */
const root = join(import.meta.dirname, "..");

const document = completeOpenApiDocument(server.version);
writeFileSync(join(root, "packages/contract/openapi.json"), `${JSON.stringify(document, null, 2)}\n`);
writeFileSync(join(root, "packages/sdk/test/generated-code-samples.ts"), typescriptSamplesFile());
writeFileSync(join(root, "docs/operations/configuration.md"), configurationReference());
writeFileSync(join(root, "packages/cli/agent.schema.json"), `${JSON.stringify(agentFileSchema(), null, 2)}\n`);
const audited = operationKeys.filter(isAudited).map((key) => operations[key].id);
writeFileSync(
  join(root, "packages/console/src/routes/audit/list/generated-operations.ts"),
  `// Made from the contract by \`pnpm generate\`. Do not edit.\n\nexport const auditedOperations: readonly string[] = [\n${[...new Set(audited)].map((id) => `  "${id}",\n`).join("")}];\n`,
);
for (const [name, text] of Object.entries(generateSources(document as unknown as OpenApiDocument)))
  writeFileSync(join(root, "packages/sdk/src", name), text);
execFileSync("python3", [join(root, "sdk-python/generate.py")], {
  env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  stdio: "inherit",
});

/** Types of rows, and who may do what to them, come from the catalogue of a database that has only been migrated. */
async function generateFromCatalogue(): Promise<void> {
  const database = await createScratchDatabase();
  try {
    await migrate(database.ownerUrl);
    execFileSync(
      "pnpm",
      [
        "exec",
        "kysely-codegen",
        "--dialect",
        "postgres",
        "--exclude-pattern",
        "kysely_*",
        "--out-file",
        "src/db/generated-rows.ts",
        "--url",
        database.ownerUrl,
      ],
      {
        cwd: join(root, "packages/server"),
        stdio: "inherit",
      },
    );
    const page = await withClient(database.ownerUrl, databaseRightsPage);
    writeFileSync(join(root, "docs/database-rights.md"), page);
  } finally {
    await database.drop();
  }
}

if (process.env.PERCH_DATABASE_ADMIN_URL) {
  await generateFromCatalogue();
} else {
  console.log(
    "PERCH_DATABASE_ADMIN_URL is not set: row types and docs/database-rights.md are left as they are. Run pnpm services up first.",
  );
}
