import { beforeAll, describe, expect, test } from "vitest";
import { serviceUrl } from "../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../spec/verifies.ts";
import { deploy, draftSays, rollBack } from "./deploying.ts";
import { type Node, usePerch } from "./harness.ts";
import { invokeAt, scripted } from "./invoking.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { runs: true });
let other: Node;
beforeAll(async () => {
  other = await perch().addNode();
});

describe("a rollback", () => {
  test("counts on every node from the moment it has returned: not one request more runs the bad version", async () => {
    verifies("deployment.rollback-target", "operations.rollback-deployment");
    const organisation = await perch().newOrganisation();
    const nodes = [perch(), other];
    await scripted(organisation, [{ reply: "draft" }]);
    const says = async (node: { url: string }) =>
      (await invokeAt(node, organisation.adminKey, { message: "hello" })).data.response;
    for (const node of nodes) expect(await says(node)).toBe("draft");

    await draftSays(organisation, "one");
    const first = await deploy(organisation, { version: "v1" });
    expect(first).toMatchObject({ status: "active", traffic_percent: 100, rollback_of: null, error: null });
    await draftSays(organisation, "two");
    for (const node of nodes) expect(await says(node)).toBe("one");
    const second = await deploy(organisation, { version: "v2" });
    for (const node of nodes) expect(await says(node)).toBe("two");

    let rolledBack = false;
    const late: string[] = [];
    const early: string[] = [];
    const asking = nodes.flatMap((node) =>
      Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 60; i++) {
          const after = rolledBack;
          const answer = await says(node);
          (after ? late : early).push(answer);
        }
      }),
    );
    await expect.poll(() => early.length, { timeout: 15_000 }).toBeGreaterThan(40);
    const made = await rollBack(organisation, second.id);
    rolledBack = true;
    for (const node of nodes) expect(await says(node)).toBe("one");
    await Promise.all(asking);
    expect(made).toMatchObject({ status: "active", version: "v1", rollback_of: second.id });
    expect(late.length).toBeGreaterThan(100);
    expect(late.filter((answer) => answer !== "one")).toEqual([]);
    expect(new Set(early)).toContain("two");
  });
});
