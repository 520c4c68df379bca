import { Redis } from "iovalkey";
import { afterAll, describe, expect, test } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeInBackground } from "../support/invoke-calls.ts";
import { lastUserMessage, startScriptServer } from "../support/script-server.ts";

const script = await startScriptServer((call) => ({
  reply: "done",
  delay_ms: lastUserMessage(call) === "hold" ? 5000 : 0,
}));
const valkeyUrl = serviceUrl("PERCH_VALKEY_URL");
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl }, { withWorker: true });
const valkey = new Redis(valkeyUrl);
afterAll(async () => {
  valkey.disconnect();
  await script.close();
});

async function createOrganisationWithAgent(limits: Parameters<typeof createScriptedAgent>[2]): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [], limits);
  return organisation;
}

describe("a turn that waits for its session", () => {
  test("holds its slot for as long as the turns before it may take, and then for its own time", async () => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 10 });
    const body = { message: "hold", context: { session_id: "one" } };
    const ids: string[] = [];
    for (let turn = 0; turn < 3; turn++) ids.push(await invokeInBackground(perch(), organisation.adminKey, body));
    const slots = `perch:runs:${parsePublicId("organisation", organisation.id)}`;
    const [seconds = 0] = await valkey.time();
    const leases = await Promise.all(
      ids.map(async (id) => Number(await valkey.zscore(slots, parsePublicId("request", id) ?? "")) - Number(seconds)),
    );
    const [first = 0, second = 0, third = 0] = leases;
    // A run takes at most 15 minutes, and its record a minute more.
    expect(first).toBeLessThanOrEqual(10 + 60);
    expect(second).toBeGreaterThan(900 + 60);
    expect(third).toBeGreaterThan(2 * (900 + 60));
  });
});
