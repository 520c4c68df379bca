import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../packages/contract/src/index.ts";
import server from "../packages/server/package.json" with { type: "json" };
import { configurationReference } from "../packages/server/src/config/config-reference.ts";
import { agentFileSchema } from "./agent-file-schema.ts";
import { generateSources } from "./typescript-sdk/generate-sources.ts";
import type { OpenApiDocument } from "./typescript-sdk/openapi-types.ts";

/** Rewrites every checked-in file that is made from another. Tests fail when one is stale. */
const root = join(import.meta.dirname, "..");

writeFileSync(
  join(root, "packages/contract/openapi.json"),
  `${JSON.stringify(openApiDocument(server.version), null, 2)}\n`,
);
writeFileSync(join(root, "docs/operations/configuration.md"), configurationReference());
writeFileSync(join(root, "packages/cli/agent.schema.json"), `${JSON.stringify(agentFileSchema(), null, 2)}\n`);
for (const [name, text] of Object.entries(
  generateSources(openApiDocument(server.version) as unknown as OpenApiDocument),
))
  writeFileSync(join(root, "packages/sdk/src", name), text);
execFileSync("python3", [join(root, "sdk-python/generate.py")], {
  env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  stdio: "inherit",
});

const url = process.env.PERCH_MIGRATION_DATABASE_URL;
if (url) {
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
      url,
    ],
    {
      cwd: join(root, "packages/server"),
      stdio: "inherit",
    },
  );
} else {
  console.log(
    "PERCH_MIGRATION_DATABASE_URL is not set: row types left as they are. Run pnpm services up and pnpm migrate first.",
  );
}
