import { narrow } from "@perch/testkit/console/browser.ts";
import type { Story } from "@perch/testkit/console/story.ts";
import type { Locator, Page } from "playwright-core";
import { accessOverlays } from "./overlays/access.ts";
import { decideOverlays } from "./overlays/decide.ts";
import { installationOverlays } from "./overlays/installation.ts";
import { logsOverlays } from "./overlays/logs.ts";
import { memoryOverlays } from "./overlays/memory.ts";
import { metricsOverlays } from "./overlays/metrics.ts";
import { both, dialog, menu, type Overlay, press } from "./overlays/overlay.ts";
import { settingsOverlays } from "./overlays/settings.ts";
import { shipOverlays } from "./overlays/ship.ts";
import { webhooksOverlays } from "./overlays/webhooks.ts";

const areas = [
  shipOverlays,
  metricsOverlays,
  logsOverlays,
  decideOverlays,
  memoryOverlays,
  webhooksOverlays,
  accessOverlays,
  settingsOverlays,
  installationOverlays,
];

const moreActions = (item: string) => async (page: Page) => {
  await press("More actions")(page);
  await page.getByRole("menuitem", { name: item }).click();
};

const palette = (name: string, path: string, typed: string, found: (page: Page) => Locator): Overlay => ({
  ...{ name: `command palette ${name}`, path, viewports: both },
  open: async (page) => {
    await press(/^Search/)(page);
    await page.getByRole("combobox", { name: /^Search for a page/ }).fill(typed);
    await found(page).waitFor();
  },
  shown: (page) => page.getByRole("dialog", { name: "Command palette" }),
});

const onAgent: readonly Overlay[] = [
  menu("/agents/support", "of the organisation", /^Organisation: /),
  menu("/agents/support", "of environments", /^Environment: /),
  menu("/agents/support", "of time ranges", /^Time range: /),
  menu("/agents/support", "of themes", "Theme"),
  menu("/agents/support", "with more actions", "More actions"),
  dialog("/agents/support", "Deploy support", press("Deploy agent")),
  dialog("/agents/support", "Pause support", moreActions("Pause agent")),
  dialog("/agents/support", "Delete support", async (page) => {
    await moreActions("Delete agent")(page);
    await page.getByLabel("Type support to confirm").fill("support");
  }),
  dialog("/agents/support", "Promote v3 in production", press("Promote canary")),
  dialog("/agents/support", "Abort v3 in production", press("Abort canary")),
  dialog("/agents/support", "Roll back production", press("Roll back production")),
  dialog("/agents/support", "Time range", async (page) => {
    await press(/^Time range: /)(page);
    await page.getByRole("menuitem", { name: "Choose a range" }).click();
  }),
  dialog("/agents/support", "Keyboard shortcuts", (page) => page.keyboard.press("?")),
];

const onDefinition: readonly Overlay[] = [
  dialog("/agents/support/definition", "Add tool", press("Add tool")),
  dialog("/agents/support/definition", "Edit tool stock", press("Edit tool stock")),
  {
    ...dialog("/agents/support/definition", "Leave without saving", async (page) => {
      await page.getByLabel("Instructions").fill("Something else.");
      await page.getByRole("link", { name: "Versions" }).click();
    }),
    tidy: press("Discard changes"),
  },
  {
    ...dialog("/agents/support/definition", "Sign out without saving", async (page) => {
      await page.getByLabel("Instructions").fill("Something else.");
      await press(/^Organisation: /)(page);
      await page.getByRole("menuitem", { name: "Sign out" }).click();
    }),
    tidy: press("Discard changes"),
  },
];

/** Every dialog, menu and panel of the console. */
export function listOverlays(story: Story): readonly Overlay[] {
  const { runs } = story;
  const run = `/runs/support/${runs.completed}`;
  const others: readonly Overlay[] = [
    dialog("/agents/support/versions", "Deploy support", press("Deploy v1")),
    dialog(run, "Run again", press("Run again")),
    menu(run, "of ways to copy", "Copy as"),
    palette("without anything typed", "/agents", "", (page) => page.getByRole("option", { name: "Agents" })),
    palette("with an agent", "/agents", "transl", (page) => page.getByRole("option", { name: "translator" }).first()),
    palette("without a result", "/agents", "zzzz", (page) => page.getByText("Nothing has this name.")),
    palette("with an id", "/agents", runs.failed, (page) => page.getByRole("option", { name: /^Run of / })),
    {
      ...{ name: "sheet of a phone", path: "/agents", open: press("Open the menu"), viewports: [narrow] },
      shown: (page) => page.getByRole("dialog", { name: "Perch" }),
    },
    {
      ...{ name: "filters of runs on a phone", path: "/runs?status=failed", viewports: [narrow] },
      open: press(/^Filters/),
      shown: (page) => page.getByRole("search"),
    },
  ];
  const endSessions: Overlay = {
    ...dialog("/settings/sessions", "End other sessions", press("End my other sessions")),
    shown: (page) => page.getByRole("dialog", { name: "End my other sessions" }),
  };
  return [...onAgent, ...onDefinition, ...others, endSessions, ...areas.flatMap((list) => list(story))].map((each) => ({
    ...each,
    path: `/console${each.path}`,
  }));
}
