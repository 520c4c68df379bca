import { parseArgs } from "node:util";
import { startOwnServer } from "./own-server.ts";
import { row, summary, walk } from "./walk.ts";
import { createWorld } from "./world.ts";

/**
 * `node spec/walk/main.ts` starts a server (the services must be up) and checks every statement of the specification.
 * With `--url` and `--key`, the admin key of an organisation without agents, it walks a server that runs already.
 */
const { values } = parseArgs({ options: { url: { type: "string" }, key: { type: "string" } } });
if ((values.url === undefined) !== (values.key === undefined))
  throw new Error("Give both --url and --key, or neither.");

const own = values.url === undefined ? await startOwnServer() : undefined;
const stopOnSignal = () => void own?.stop().finally(() => process.exit(1));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stopOnSignal);
try {
  const target = own
    ? { url: own.url, key: own.keys.enterprise, own }
    : { url: values.url ?? "", key: values.key ?? "" };
  const world = createWorld(target);
  const findings = await walk(world, own !== undefined, (finding) => console.log(row(finding)));
  await world.cleanUp();
  console.log(`\n${summary(findings)}`);
  if (findings.some(({ outcome }) => outcome === "differs")) process.exitCode = 1;
} finally {
  await own?.stop();
}
