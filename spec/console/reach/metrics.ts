import { defineReach } from "./reach.ts";

export const reachMetrics = defineReach({
  prepare: ({ perch }) => perch.agents.create({ name: "measured", model: "perch/echo" }),
  operations: {
    "GET /v1/metrics": async ({ page }) => {
      await page.goto("/console/metrics");
      await page.getByRole("link", { name: "measured" }).waitFor();
    },
    "GET /v1/agents/{agent_id}/metrics": async ({ page }) => {
      await page.getByRole("link", { name: "measured" }).click();
      await page.getByRole("img", { name: /^Run time: / }).waitFor();
    },
  },
});
