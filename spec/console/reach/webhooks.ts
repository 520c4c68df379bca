import { visit } from "@perch/testkit/console/browser.ts";
import type { Page } from "playwright-core";
import { defineReach } from "./reach.ts";

const choose = async (page: Page, item: string) => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: item }).click();
};
const confirm = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name }).click();
const closed = (page: Page) => page.getByRole("dialog").waitFor({ state: "hidden" });

/** The user's actions in the browser on webhooks, their deliveries, and events. */
export const reachWebhooks = defineReach({
  operations: {
    "GET /v1/webhooks": async ({ page }) => visit(page, "/console/webhooks"),
    "POST /v1/webhooks": async ({ page, shop }) => {
      await page.getByRole("button", { name: "Create webhook" }).click();
      await page.getByRole("dialog").getByLabel("Address").fill(`${shop.hookUrl}/warehouse`);
      await confirm(page, "Create webhook");
      await page.getByText(/^whsec_/).waitFor();
    },
    "GET /v1/webhooks/{webhook_id}": async ({ page }) => {
      await page.getByRole("button", { name: "I have copied the signing secret" }).click();
      await page.getByRole("heading", { name: /warehouse$/ }).waitFor();
    },
    "PATCH /v1/webhooks/{webhook_id}": async ({ page }) => {
      await page.getByRole("button", { name: "Edit webhook" }).click();
      await page.getByLabel("deployment.activated").check();
      await confirm(page, "Save webhook");
      await closed(page);
    },
    "POST /v1/webhooks/{webhook_id}/rotate": async ({ page }) => {
      await choose(page, "Rotate signing secret");
      await confirm(page, "Rotate secret");
      await page.getByText(/signed with both secrets until/).waitFor();
      await confirm(page, "I have copied the new signing secret");
      await closed(page);
    },
    "POST /v1/webhooks/{webhook_id}/test": async ({ page }) => {
      await page.getByRole("button", { name: "Send test event" }).click();
      await page.getByText("Attempt 1").waitFor();
    },
    "GET /v1/webhooks/{webhook_id}/deliveries": async ({ page }) => {
      await page.getByRole("button", { name: "Close the delivery" }).click();
      await page.getByRole("combobox", { name: "Status of the delivery" }).selectOption("delivered");
    },
    "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": async ({ page }) => {
      await page.getByRole("link", { name: "webhook.test" }).click();
      await page.reload();
      await page.getByText("Attempt 1").waitFor();
    },
    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": async ({ page }) => {
      await page.getByRole("button", { name: "Redeliver event" }).click();
      await confirm(page, "Redeliver event");
      await page.getByText("Repeats").waitFor();
    },
    "POST /v1/webhooks/{webhook_id}/redeliver": async ({ page }) => {
      await choose(page, "Redeliver failed events");
      await confirm(page, "Redeliver failed events");
      await page.getByText("0 events are queued.").waitFor();
      await page.keyboard.press("Escape");
      await closed(page);
    },
    "GET /v1/events": async ({ page }) => {
      await visit(page, "/console/webhooks");
      await page.getByRole("link", { name: "Events" }).click();
      await page.getByRole("link", { name: "webhook.test" }).first().waitFor();
    },
    "GET /v1/events/{event_id}": async ({ page }) => {
      await page.getByRole("link", { name: "webhook.test" }).first().click();
      await page.reload();
      await page.getByRole("heading", { name: "Payload" }).waitFor();
    },
    "DELETE /v1/webhooks/{webhook_id}": async ({ page }) => {
      await visit(page, "/console/webhooks");
      await page.getByRole("link", { name: /warehouse/ }).click();
      await choose(page, "Delete webhook");
      await confirm(page, "Delete webhook");
      await page.getByText("No webhooks yet").waitFor();
    },
  },
});
