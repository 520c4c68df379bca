import { openContext, visit } from "@perch/testkit/console/browser.ts";
import { createOperatorKey } from "@perch/testkit/console/stories/installation.ts";
import { defineReach } from "./reach.ts";

export const reachInstallation = defineReach({
  prepare: async ({ browser, server, organisationId, listenTo }) => {
    const apiKey = await createOperatorKey(server, organisationId);
    const context = await openContext(browser, server.url, { apiKey });
    listenTo(context);
    return { context, page: await context.newPage() };
  },
  operations: {
    "GET /v1/installation": async (_, { page }) => {
      await visit(page, "/console/agents");
      await page.getByRole("link", { name: "Installation" }).click();
      await page.getByRole("table", { name: "Parts of the installation" }).waitFor();
    },
  },
  end: ({ context }) => context.close(),
});
