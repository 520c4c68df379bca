import { launchBrowser, openContext, watch } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type OperationKey, operationKeys } from "../../packages/contract/src/index.ts";
import { operationOf } from "./operation-of.ts";
import { reachAccess } from "./reach/access.ts";
import { reachDecide } from "./reach/decide.ts";
import { reachInstallation } from "./reach/installation.ts";
import { reachLogs } from "./reach/logs.ts";
import { reachMemory } from "./reach/memory.ts";
import { reachMetrics } from "./reach/metrics.ts";
import { notForPeople } from "./reach/not-for-people.ts";
import type { Reach, World } from "./reach/reach.ts";
import { reachSettings } from "./reach/settings.ts";
import { reachShip } from "./reach/ship.ts";
import { reachWebhooks } from "./reach/webhooks.ts";

const areas: Readonly<Record<string, Reach>> = {
  ship: reachShip,
  metrics: reachMetrics,
  logs: reachLogs,
  decide: reachDecide,
  memory: reachMemory,
  webhooks: reachWebhooks,
  access: reachAccess,
  settings: reachSettings,
  installation: reachInstallation,
};
const server = inject("consoleServer");
const shop = inject("shop");
const keysOf = (table: object) => Object.keys(table) as OperationKey[];

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

test("every operation can be reached from a page, or is listed as not for people", () => {
  const reached = Object.values(areas).flatMap(({ keys }) => keys);
  expect(operationKeys.length).toBeGreaterThan(90);
  expect(reached.filter((key) => key in notForPeople)).toEqual([]);
  expect([...new Set([...reached, ...keysOf(notForPeople)])].toSorted()).toEqual([...operationKeys].toSorted());
});

const withOperations = Object.entries(areas).filter(([, { keys }]) => keys.length > 0);

describe.each(withOperations)("a person reaches, in the area %s,", (name, area) => {
  let world: World;
  let opened: Awaited<ReturnType<Reach["open"]>>;
  const answered = new Set<OperationKey>();
  beforeAll(async () => {
    const { apiKey, organisationId, perch } = await createOrganisation(server, `Reach ${name}`);
    const context = await openContext(browser, server.url, { apiKey });
    const page = await context.newPage();
    watch(page);
    const listenTo: World["listenTo"] = (listened) =>
      void listened.on("response", (response) => {
        const key = operationOf(response.request().method(), new URL(response.url()).pathname);
        if (key && response.ok()) answered.add(key);
      });
    listenTo(context);
    world = { browser, context, page, perch, apiKey, organisationId, server, shop, listenTo };
    opened = await area.open(world);
  });
  afterAll(async () => {
    await opened?.end();
    await world?.context.close();
  });
  test.each(area.keys)("%s", async (key) => {
    // The pages' own reads are recorded on the way; the changes are made one by one for each operation.
    if (key.startsWith("GET ") && answered.has(key)) return;
    answered.delete(key);
    await opened.reach(key);
    await expect.poll(() => [...answered]).toContain(key);
  });
});
