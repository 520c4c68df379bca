import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { hostOf, httpTool } from "../support/secret-runs.ts";
import { slowness, threadMs } from "../support/thread-time.ts";

const megabyte = 1024 * 1024;
/** Each part of the second may be the beginning of the secret's value. */
const answers = { "/plain": "words of a tool ".repeat(megabyte / 16), "/hostile": "ab%61%62".repeat(megabyte / 8) };
const outside = await startToolServer(({ path }) => ({ body: answers[path as keyof typeof answers] }));
afterAll(() => outside.close());

const perch = usePerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] }, { withWorker: true });

/** What the thread of the event loop spends. */
async function loopMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  return threadMs(before);
}

test("answers that take seconds to search for a secret take no time of the event loop", async () => {
  const organisation = await perch().createOrganisation();
  await createSecret(organisation, { name: "searched", value: "ab-searched-secret", hosts: [hostOf(outside.url)] });
  const calls = Array.from({ length: 2 }, () => ({ name: "book", arguments: {} }));
  const askedAt = async (path: string) => {
    const tools = [httpTool(outside.url + path, { headers: { "x-key": "{{secret.searched}}" } })];
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: { tools } }));
    return loopMsOf(async () => {
      const { data, error } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
      expect(data?.response ?? error).toBe("done");
    });
  };
  await createScriptedAgent(organisation, [{ tool_calls: calls }, { reply: "done" }]);
  await askedAt("/plain");
  const plain = await askedAt("/plain");
  const hostile = await askedAt("/hostile");
  // In the event loop, the search of both would take 1.5 s.
  expect(hostile - plain).toBeLessThan(400 * slowness());
});
