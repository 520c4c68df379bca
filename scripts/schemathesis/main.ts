import { parseArgs } from "node:util";
import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { createFixtures } from "./fixtures.ts";
import { installSchemathesis, runSchemathesis } from "./python.ts";

/**
 * Schemathesis reads `/openapi.json` of a running server and sends requests that the document allows and requests that
 * it forbids, to find differences between the document and the server.
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
  const perch = await startInstallation({ settings: { PERCH_UNAUTHENTICATED_REQUESTS_PER_MINUTE: "1000000" } });
  try {
    const key = await perch.createOrganisation("Schemathesis", "enterprise");
    const examples = options.examples ?? (options.short ? "8" : "30");
    const args = [
      `${perch.url}/openapi.json`,
      `--header=Authorization: Bearer ${key}`,
      `--seed=${options.seed}`,
      `--max-examples=${examples}`,
      // Several workers race in Python 3.11 while they compile regular expressions.
      "--workers=1",
      "--continue-on-failure",
    ];
    return await runSchemathesis(program, args, await createFixtures(perch.url, key));
  } finally {
    await perch.stop();
  }
}

process.exitCode = await runChecks();
