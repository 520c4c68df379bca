import { visit } from "@perch/testkit/console/browser.ts";
import { defineReach } from "./reach.ts";

export const reachLogs = defineReach({
  prepare: async ({ perch }) => {
    await perch.agents.create({ name: "logs-reach", model: "perch/echo" });
    await perch.logs.add("logs-reach", { entries: [{ message: "Reached" }] });
  },
  operations: {
    "GET /v1/agents/{agent_id}/logs": async ({ page }) => {
      await visit(page, "/console/logs?agent=logs-reach");
      await page.getByRole("row", { name: /Reached/ }).waitFor();
    },
  },
});
