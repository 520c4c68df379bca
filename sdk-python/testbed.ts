import { once } from "node:events";
import { startInstallation } from "@perch/testkit/installation/installation.ts";

/**
 * The real server and a real engine for the Python tests. Prints one line with their addresses, and ends when its input
 * does.
 */

async function startTestbed() {
  const { url, createOrganisation, stop } = await startInstallation({
    settings: { PERCH_WEBHOOK_ALLOW_LOOPBACK: "true", PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8" },
  });
  try {
    const [key, freeKey, guideKey] = await Promise.all([
      createOrganisation("Acme", "enterprise"),
      createOrganisation("Small", "free"),
      createOrganisation("Reader", "pro"),
    ]);
    return { url, key, freeKey, guideKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const { stop, ...testbed } = await startTestbed();
console.log(JSON.stringify(testbed));
process.stdin.resume();
await once(process.stdin, "end");
await stop();
