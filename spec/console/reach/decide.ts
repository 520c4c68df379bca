import { openContext, visit } from "@perch/testkit/console/browser.ts";
import {
  askFor,
  createApp,
  createApprover,
  createGifts,
  createRefunds,
} from "@perch/testkit/console/stories/decide.ts";
import type { Page } from "playwright-core";
import { defineReach, type World } from "./reach.ts";

interface Queue {
  readonly page: Page;
  readonly calls: readonly string[];
  readonly question: string;
}

async function prepare({ browser, perch, server, shop, listenTo }: World): Promise<Queue> {
  await Promise.all([createRefunds(perch, shop.toolUrl), createGifts(perch)]);
  const app = await createApp(perch, server.url);
  const question = await askFor(app, "gifts", "A present.");
  const calls = [await askFor(app, "refunds", "It is broken."), await askFor(app, "refunds", "Mine too.")];
  const { apiKey } = await createApprover(perch, server.url);
  const context = await openContext(browser, server.url, { apiKey });
  listenTo(context);
  return { page: await context.newPage(), calls, question };
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const inDialog = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });

export const reachDecide = defineReach<Queue>({
  prepare,
  operations: {
    "GET /v1/approvals": (_, { page }) => visit(page, "/console/approvals"),
    "GET /v1/approvals/{approval_id}": (_, { page }) =>
      page
        .getByRole("link", { name: /refunds wants/ })
        .first()
        .click(),
    "POST /v1/approvals/{approval_id}/approve": async (_, { page, calls }) => {
      await visit(page, `/console/approvals/${calls[0]}`);
      await button(page, "Approve call").click();
      await inDialog(page, "Approve call").click();
    },
    "POST /v1/approvals/{approval_id}/reject": async (_, { page, calls }) => {
      await visit(page, `/console/approvals/${calls[1]}`);
      await button(page, "Reject call").click();
      await page.getByLabel("Reason").fill("Ask for a photo first.");
      await inDialog(page, "Reject call").click();
    },
    "POST /v1/approvals/{approval_id}/answer": async (_, { page, question }) => {
      await visit(page, `/console/approvals/${question}`);
      await page.getByLabel("ribbon").selectOption("blue");
      await page.getByLabel("leaves_on").fill("2026-12-01");
      await button(page, "Answer question").click();
      await inDialog(page, "Answer question").click();
    },
  },
  end: ({ page }) => page.context().close(),
});
