import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startStoryServer } from "@perch/testkit/api-story/story-server.ts";
import { recordExamples } from "./record.ts";

/**
 * `node scripts/record-examples/main.ts` records the examples of the OpenAPI document anew, from a server that it starts. It needs
 * `pnpm services up` and the weights of the local embedder. Run `pnpm generate` afterwards.
 */
const folder = join(import.meta.dirname, "../../packages/contract/examples");
const write = (name: string, value: unknown) =>
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);

const server = await startStoryServer();
try {
  const { operations, errors } = await recordExamples(server);
  write("operations.json", operations);
  write("errors.json", errors);
  console.log(`${Object.keys(operations).length} operations and ${Object.keys(errors).length} errors recorded`);
} finally {
  await server.stop();
}
