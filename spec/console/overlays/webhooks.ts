import type { Story } from "@perch/testkit/console/story.ts";
import type { Page } from "playwright-core";
import { dialog, menu, type Overlay, pathOf, press } from "./overlay.ts";

const choose = (item: string) => async (page: Page) => {
  await press("More actions")(page);
  await page.getByRole("menuitem", { name: item }).click();
};

/** The overlays on the pages of webhooks. */
export const webhooksOverlays = (story: Story): readonly Overlay[] => {
  const webhook = pathOf(story, "webhook");
  return [
    dialog("/webhooks", "Create webhook", async (page) => {
      await press("Create webhook")(page);
      await press("Add header")(page);
    }),
    menu(webhook, "of a webhook", "More actions"),
    dialog(webhook, "Edit webhook", press("Edit webhook")),
    dialog(webhook, "Rotate signing secret", choose("Rotate signing secret")),
    dialog(webhook, "Redeliver failed events", choose("Redeliver failed events")),
    dialog(webhook, "Disable webhook", choose("Disable webhook")),
    dialog(webhook, "Delete webhook", choose("Delete webhook")),
    dialog(pathOf(story, "delivery-delivered"), "Redeliver event", press("Redeliver event")),
  ];
};
