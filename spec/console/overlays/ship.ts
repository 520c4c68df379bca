import type { Story } from "@perch/testkit/console/story.ts";
import type { Page } from "playwright-core";
import { both, dialog, type Overlay, press } from "./overlay.ts";

/** As a canary, with the guards in sight and the draft checked. */
const deployAsCanary = async (page: Page) => {
  await press("Deploy agent")(page);
  await page.getByLabel("Share of requests, in percent").fill("10");
  await page.getByText("Roll back automatically if").click();
  await page.getByText("No problems found in the draft.").waitFor();
};

export function shipOverlays({ pages }: Story): readonly Overlay[] {
  const pathOf = (name: string) => String(pages[name]);
  const canary = pathOf("deployment-canary");
  return [
    { ...dialog("/agents/brewing", "Deploy brewing", deployAsCanary), name: 'dialog "Deploy brewing" as a canary' },
    dialog(canary, "Share of v6 in production", press("Change share")),
    dialog(canary, "Promote v6 in production", press("Promote canary")),
    dialog(canary, "Abort v6 in production", press("Abort canary")),
    dialog(pathOf("deployment-live"), "Roll back production", press("Roll back production")),
    dialog(pathOf("deployment-superseded"), "Roll back production to v1", press("Roll back production to v1")),
    dialog(pathOf("agent-deployments"), "Roll back production", press("Roll back production")),
    {
      ...{ name: "filters of deployments", path: "/deployments?status=failed", viewports: both.slice(0, 1) },
      open: press(/^Filters/),
      shown: (page) => page.getByRole("search"),
    },
  ];
}
