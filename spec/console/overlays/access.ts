import type { Story } from "@perch/testkit/console/story.ts";
import type { Page } from "playwright-core";
import { dialog, menu, type Overlay, press } from "./overlay.ts";

const moreActions = (item: string) => async (page: Page) => {
  await press("More actions")(page);
  await page.getByRole("menuitem", { name: item }).click();
};

const pathOf = ({ pages }: Story, name: string): string => {
  const page = pages[name];
  return typeof page === "string" ? page : "";
};

/** The dialog loads when it opens; it is ready with its first field. */
const pressAndWait = (name: string, field: string) => async (page: Page) => {
  await press(name)(page);
  await page.getByRole("dialog").getByLabel(field).waitFor();
};

export function accessOverlays(story: Story): readonly Overlay[] {
  const key = pathOf(story, "key");
  const connection = pathOf(story, "connection");
  return [
    dialog("/keys", "Create key", async (page) => {
      await press("Create key")(page);
      const opened = page.getByRole("dialog");
      await opened.getByLabel("Role").selectOption("own");
      await opened.getByLabel("Expires").selectOption("at");
    }),
    menu(key, "of a key", "More actions"),
    dialog(key, "Change Checkout of the shop", press("Change key")),
    dialog(key, "Rotate Checkout of the shop", press("Rotate key")),
    dialog(key, "Begin a second factor for Checkout of the shop", moreActions("Begin second factor")),
    dialog(key, "Revoke Checkout of the shop", moreActions("Revoke key")),
    dialog("/secrets?agent=support", "Create secret", press("Create secret")),
    dialog("/secrets", "Change tracker_key", pressAndWait("Change secret tracker_key", "Hosts")),
    dialog("/secrets", "Delete tracker_key", press("Delete secret tracker_key")),
    dialog("/connections?agent=mail-desk", "Create link", press("Create link")),
    dialog(connection, "Create link", press("Create new link")),
    dialog(connection, "Revoke connection", press("Revoke connection")),
    dialog("/models", "Create provider", press("Create provider")),
    dialog("/models", "Change acme", pressAndWait("Change provider acme", "Address")),
    dialog("/models", "Delete acme", press("Delete provider acme")),
  ];
}
