import { readStored } from "@perch/testkit/console/browser.ts";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { type Hand, hasFocus } from "./hands.ts";

export async function signInWithKey(page: Page, hand: Hand, apiKey: string): Promise<void> {
  await page.goto("/console/");
  await page.getByRole("heading", { name: "Sign in" }).first().waitFor();
  await hand.write(page.getByLabel("API key"), apiKey);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  // The page had the key, and stores it nowhere.
  expect(await readStored(page)).not.toContain(apiKey);
}

/** The first day of a user, once signed in: create an agent, talk to it, look at the run, change it and run it again. */
export async function spendFirstDay(page: Page, hand: Hand): Promise<void> {
  await hand.press(page.getByRole("link", { name: "Create an agent here" }));
  await hand.write(page.getByLabel("Name"), "greeter");
  await hand.write(page.getByLabel("Model"), "perch/echo");
  await hand.write(page.getByLabel("Instructions"), "Greet people.");
  await hand.press(page.getByRole("button", { name: "Create agent" }));

  await page.waitForURL("**/agents/greeter/playground**");
  const input = page.getByRole("textbox", { name: "Message to greeter" });
  // The dialog has closed, and leaves the focus where the page has put it.
  await expect.poll(() => hasFocus(input)).toBe(true);
  await hand.write(input, "Good morning, Perch");
  await page.keyboard.press("Enter");
  const turns = page.getByRole("listitem").filter({ hasText: "Good morning, Perch" });
  await turns
    .getByText("completed")
    .first()
    .waitFor()
    .catch(async () => {
      throw new Error(`The message has no answer. The page shows: ${await page.locator("main").textContent()}`);
    });

  await hand.press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs" }));
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  await page.locator("tr[data-index='0'] a").first().waitFor();
  await hand.open(page.getByRole("grid", { name: "Runs" }), page.locator("tr[data-index='0']"));
  await page.waitForURL("**/runs/greeter/req_*");
  await page.getByText("Good morning, Perch").first().waitFor();
  await page.getByText("perch/echo").first().waitFor();

  await hand.press(page.getByRole("link", { name: "Edit and run" }));
  await page.waitForURL("**/playground?**from=req_**");
  await expect.poll(() => input.inputValue()).toBe("Good morning, Perch");
  await hand.write(input, "Good evening, Perch");
  await page.keyboard.press("Enter");
  await page.getByRole("listitem").filter({ hasText: "Good evening, Perch" }).getByText("completed").first().waitFor();
}

export async function signOut(page: Page, hand: Hand): Promise<void> {
  await hand.press(page.getByRole("button", { name: /^Organisation: / }));
  await hand.press(page.getByRole("menuitem", { name: "Sign out" }));
  await page.getByRole("heading", { name: "Sign in" }).first().waitFor();
  expect((await page.context().request.get("/v1/me")).status()).toBe(401);
  // Neither the back button nor a reload shows the earlier page.
  await page.goBack();
  await page.getByRole("heading", { name: "Sign in" }).first().waitFor();
}
