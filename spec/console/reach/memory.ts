import { visit } from "@perch/testkit/console/browser.ts";
import { defineReach } from "./reach.ts";

/** The user's actions in the browser on the memory of an agent. */
export const reachMemory = defineReach({
  prepare: async ({ perch }) => {
    await perch.agents.create({ name: "keeper", model: "perch/echo" });
    await perch.memory.add("keeper", { content: "Prefers jasmine tea.", user_id: "anna" });
    const { id } = await perch.memory.add("keeper", { content: "Lives in Ghent.", user_id: "bert" });
    return id;
  },
  operations: {
    "GET /v1/agents/{agent_id}/memory/status": async ({ page }) => {
      // The only agent is chosen by itself.
      await visit(page, "/console/memory");
      await page.getByText("perch/minilm").waitFor();
    },
    "GET /v1/agents/{agent_id}/memory": async ({ page }) => {
      await page.getByRole("textbox", { name: "User" }).fill("anna");
      await page.keyboard.press("Enter");
      await page.getByText("Lives in Ghent.").waitFor({ state: "hidden" });
    },
    "POST /v1/agents/{agent_id}/memory/search": async ({ page }) => {
      await page.getByRole("searchbox", { name: "Search memories" }).fill("which tea");
      await page.keyboard.press("Enter");
      await page
        .getByRole("button", { name: /^Explain the score/ })
        .first()
        .waitFor();
    },
    "POST /v1/agents/{agent_id}/memory": async ({ page }) => {
      await page.getByRole("button", { name: "Add memory" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Content").fill("Drinks no coffee.");
      await dialog.getByRole("button", { name: "Add memory" }).click();
      await dialog.waitFor({ state: "hidden" });
    },
    "GET /v1/agents/{agent_id}/memory/{memory_id}": async ({ page }, id) => {
      await visit(page, "/console/memory?agent=keeper");
      await page.getByRole("link", { name: "Lives in Ghent." }).click();
      await page.getByText(id).waitFor();
    },
    "DELETE /v1/agents/{agent_id}/memory/{memory_id}": async ({ page }) => {
      await page.getByRole("button", { name: "Delete memory" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete memory" }).click();
      await page.getByRole("link", { name: "Lives in Ghent." }).waitFor({ state: "hidden" });
    },
    "DELETE /v1/agents/{agent_id}/memory": async ({ page }) => {
      await page.getByRole("button", { name: "Clear memory" }).click();
      await page.getByLabel("Type keeper to confirm").fill("keeper");
      await page.getByRole("dialog").getByRole("button", { name: "Clear memory" }).click();
    },
    "GET /v1/agents/{agent_id}/memory/clears/{clear_id}": async ({ page }) => {
      await visit(page, "/console/memory?agent=keeper&user=anna");
      await page.getByRole("button", { name: "Clear memory" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Clear memory" }).click();
      await page.getByText("completed").waitFor();
    },
  },
});
