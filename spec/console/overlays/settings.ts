import type { Story } from "@perch/testkit/console/story.ts";
import { dialog, type Overlay, press } from "./overlay.ts";

/** The warning about a list without the address of this browser. */
const lockOut: Overlay = {
  ...dialog("/agents/returns/security", "Lock yourself out of returns", async (page) => {
    const box = page.getByLabel("Accept only these addresses");
    if (!(await box.isChecked())) await box.check();
    await page.getByLabel("Addresses and ranges").fill("203.0.113.7");
    await press("Save settings")(page);
  }),
  tidy: press("Discard changes"),
};

export const settingsOverlays = (_story: Story): readonly Overlay[] => [
  lockOut,
  dialog("/settings", "Forbid that manage gives approve", press("Forbid")),
  dialog("/settings/users-data", "Erase the data of user-42", async (page) => {
    await page.getByLabel("User id").fill("user-42");
    await press("Erase user's data")(page);
  }),
];
