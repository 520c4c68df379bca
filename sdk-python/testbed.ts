import { once } from "node:events";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { createScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";

/** The real server and a real engine for the Python tests. Says in one line where they are, and ends when its input does. */

async function startTestbed() {
  const [database, engine] = await Promise.all([createScratchDatabase(), startRestate()]);
  const stopEngine = async () => {
    await engine.stop();
    await database.drop();
  };
  try {
    await runCommand(database, ["migrate"]);
    const organisation = (name: string, tier: string) =>
      runCommand(database, ["create-organisation", "--name", name, "--tier", tier]);
    const [server, key, freeKey, guideKey] = await Promise.all([
      startServer(
        database,
        {
          PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
          PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
          PERCH_WORKER_PORT: "0",
          PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
          PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
        },
        "all",
      ),
      organisation("Acme", "enterprise"),
      organisation("Small", "free"),
      organisation("Reader", "pro"),
    ]);
    const stop = async () => {
      await server.stop();
      await stopEngine();
    };
    return { url: server.url, key, freeKey, guideKey, stop };
  } catch (error) {
    await stopEngine();
    throw error;
  }
}

const { stop, ...testbed } = await startTestbed();
console.log(JSON.stringify(testbed));
process.stdin.resume();
await once(process.stdin, "end");
await stop();
