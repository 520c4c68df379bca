import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy, rollBack, setDraftReply } from "../support/deployment-calls.ts";
import { type ApiNode, usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

describe("a rollback", () => {
  test("applies to every node once it has returned: no later request runs the bad version", async () => {
    verifies("deployment.rollback-target", "operations.rollback-deployment");
    const organisation = await perch().createOrganisation();
    const nodes = [perch(), other];
    await createScriptedAgent(organisation, [{ reply: "draft" }]);
    const invokeForText = async (node: { url: string }) =>
      (await invokeAgent(node, organisation.adminKey, { message: "hello" })).data.response;
    for (const node of nodes) expect(await invokeForText(node)).toBe("draft");

    await setDraftReply(organisation, "one");
    const first = await deploy(organisation, { version: "v1" });
    expect(first).toMatchObject({ status: "active", traffic_percent: 100, rollback_of: null, error: null });
    await setDraftReply(organisation, "two");
    for (const node of nodes) expect(await invokeForText(node)).toBe("one");
    const second = await deploy(organisation, { version: "v2" });
    for (const node of nodes) expect(await invokeForText(node)).toBe("two");

    let rolledBack = false;
    const late: string[] = [];
    const early: string[] = [];
    const asking = nodes.flatMap((node) =>
      Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 60; i++) {
          const after = rolledBack;
          const answer = await invokeForText(node);
          (after ? late : early).push(answer);
        }
      }),
    );
    await expect.poll(() => early.length, { timeout: 15_000 }).toBeGreaterThan(40);
    const made = await rollBack(organisation, second.id);
    rolledBack = true;
    for (const node of nodes) expect(await invokeForText(node)).toBe("one");
    await Promise.all(asking);
    expect(made).toMatchObject({ status: "active", version: "v1", rollback_of: second.id });
    expect(late.length).toBeGreaterThan(100);
    expect(late.filter((answer) => answer !== "one")).toEqual([]);
    expect(new Set(early)).toContain("two");
  });
});
