import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { Redis } from "iovalkey";
import { afterAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { followRunStream } from "../support/event-stream-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";

/** Nine such answers are more than the 8 MiB that the streams of a free organisation may store. */
const answer = "x".repeat(1_000_000);
const script = await startScriptServer(() => ({ reply: answer }));
const valkeyUrl = serviceUrl("PERCH_VALKEY_URL");
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl }, { withWorker: true });
const valkey = new Redis(valkeyUrl);
afterAll(async () => {
  valkey.disconnect();
  await script.close();
});

async function runInBackground(organisation: Organisation): Promise<string> {
  const id = await invokeInBackground(perch(), organisation.adminKey, { message: "talk" });
  expect(await waitForRunRecord(organisation, id)).toMatchObject({ status: "completed", response: answer });
  return id;
}

async function createFreeOrganisation(): Promise<Organisation> {
  const organisation = await perch().createOrganisation("free");
  await createScriptedAgent(organisation);
  return organisation;
}

const keptBytes = async (ids: readonly string[]): Promise<number> => {
  const keys = ids.map((id) => `perch:stream:{${parsePublicId("request", id)}}`);
  const sizes = await Promise.all(keys.map((key) => valkey.memory("USAGE", key, "SAMPLES", 0)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
};

/** Without the events of steps, which are small, so that some still fit when a text does not. */
const eventsOf = async (organisation: Organisation, id: string) => {
  const stream = await followRunStream(perch(), organisation.adminKey, `/v1/agents/bot/invocations/${id}`);
  return (await stream.readAll()).filter(({ event }) => event !== "step");
};

describe("an organisation whose runs in the background stream a lot", () => {
  test("stores as much in Valkey as its tier may, and its runs go on", { timeout: 60_000 }, async () => {
    const organisation = await createFreeOrganisation();
    const ids: string[] = [];
    for (let run = 0; run < 12; run++) ids.push(await runInBackground(organisation));
    const last = await eventsOf(organisation, ids.at(-1) ?? "");
    expect(last.map(({ event }) => event)).toEqual(["dropped", "token", "done"]);
    expect(last[0]?.data).toMatchObject({ message: expect.stringContaining("(8 MiB)") });
    expect(last[1]?.data).toMatchObject({ offset: 0, text: answer });
    expect((await eventsOf(organisation, ids[0] ?? "")).map(({ event }) => event)).toEqual(["token", "done"]);
    // Includes Valkey's own overhead: a text of a million bytes takes a little more.
    expect(await keptBytes(ids)).toBeLessThan(11 * 1024 * 1024);

    const neighbour = await createFreeOrganisation();
    const theirs = await eventsOf(neighbour, await runInBackground(neighbour));
    expect(theirs.map(({ event }) => event)).toEqual(["token", "done"]);
  });
});
