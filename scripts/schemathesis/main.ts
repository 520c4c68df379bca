import { parseArgs } from "node:util";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { createScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
import { createFixtures } from "./fixtures.ts";
import { installSchemathesis, runSchemathesis } from "./python.ts";

/**
 * Schemathesis reads `/openapi.json` of a running server and sends requests that the document allows and requests that it forbids,
 * to find where the document and the server disagree.
 */
const { values: options } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    seed: { type: "string", default: "20261115" },
    examples: { type: "string" },
  },
});

async function runChecks(): Promise<number> {
  const program = await installSchemathesis();
  const database = await createScratchDatabase();
  const engine = await startRestate();
  try {
    await runCommand(database, ["migrate"]);
    const server = await startServer(
      database,
      {
        PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(),
        PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(),
        PERCH_WORKER_PORT: "0",
        PERCH_UNAUTHENTICATED_REQUESTS_PER_MINUTE: "1000000",
        PERCH_LOG_LEVEL: "error",
      },
      "all",
    );
    try {
      const key = await runCommand(database, ["create-organisation", "--name", "Schemathesis", "--tier", "enterprise"]);
      const examples = options.examples ?? (options.short ? "8" : "30");
      const args = [
        `${server.url}/openapi.json`,
        `--header=Authorization: Bearer ${key}`,
        `--seed=${options.seed}`,
        `--max-examples=${examples}`,
        // Several workers race in Python 3.11 while they compile regular expressions.
        "--workers=1",
        "--continue-on-failure",
      ];
      return await runSchemathesis(program, args, await createFixtures(server.url, key));
    } finally {
      await server.stop();
    }
  } finally {
    await engine.stop();
    await database.drop();
  }
}

process.exitCode = await runChecks();
