import { visit } from "@perch/testkit/console/browser.ts";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { defineReach, type World } from "./reach.ts";

const press = ({ page }: World, name: string | RegExp) => page.getByRole("button", { name }).first().click();

const state: { secret?: string } = {};
/** Each code counts once, so each comes from a later period. */
const codeOf = (periods: number): string => generateTotpCode(state.secret ?? "", periods);

export const reachSettings = defineReach({
  operations: {
    "GET /v1/audit-log": async ({ page }) => visit(page, "/console/audit"),
    "GET /v1/organisation": async ({ page }) => visit(page, "/console/settings"),
    "PATCH /v1/organisation": async (world) => {
      await press(world, "Forbid");
      await world.page.getByRole("dialog").getByRole("button", { name: "Forbid it" }).click();
      await world.page.getByText("given only by those who have it").waitFor();
    },
    "DELETE /v1/users/{user_id}/data": async (world) => {
      await visit(world.page, "/console/settings/users-data");
      await world.page.getByLabel("User id").fill("user-42");
      await press(world, "Erase user's data");
      await world.page.getByLabel("Type user-42 to confirm").fill("user-42");
      await world.page.getByRole("dialog").getByRole("button", { name: "Erase user's data" }).click();
    },
    "GET /v1/erasures": async ({ page }) => visit(page, "/console/settings/users-data"),
    "GET /v1/erasures/{erasure_id}": async ({ page }) =>
      page
        .getByRole("link", { name: /^erasure_/ })
        .first()
        .click(),
    "GET /v1/console/sessions": async ({ page }) => visit(page, "/console/settings/sessions"),
    "POST /v1/mfa": async (world) => {
      await visit(world.page, "/console/settings/second-factor");
      await press(world, "Enrol second factor");
      const secret = world.page.locator("code", { hasText: /^[A-Z2-7]{32}$/ }).first();
      state.secret = (await secret.textContent()) ?? "";
    },
    "POST /v1/mfa/confirm": async (world) => {
      await world.page.getByLabel("Code from the app").fill(codeOf(-1));
      await press(world, "Confirm second factor");
      await world.page.getByText("has a second factor.").waitFor();
    },
    "POST /v1/mfa/remove": async (world) => {
      await world.page.getByLabel("Code", { exact: true }).fill(codeOf(0));
      await press(world, "Remove second factor");
    },
    // In the same browser: signing in again begins another session.
    "DELETE /v1/console/sessions/{session_id}": async (world) => {
      await visit(world.page, "/console/settings/sessions");
      await press(world, "Sign out");
      await world.page.waitForURL("**/console/sign-in*");
    },
    "GET /v1/console/sign-in-methods": async ({ page }) => visit(page, "/console/sign-in"),
    "POST /v1/console/sessions": async (world) => {
      await visit(world.page, "/console/sign-in");
      await world.page.getByLabel("API key").fill(world.apiKey);
      await press(world, /^Sign in/);
      await world.page.waitForURL("**/console/agents*");
    },
  },
});
