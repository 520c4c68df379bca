import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import { connectionOf } from "../chatbot.ts";
import type { Task } from "../task.ts";

/** On a signal, Playwright would end this process before everything else has ended. */
const withoutSignals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };

export const docsPage: Task = {
  number: 7,
  title: "a request from /docs in Chromium",
  needs: [2],
  run: async (trial) => {
    const { PERCH_API_KEY: key = "" } = await connectionOf(trial);
    const browser = await launchChromium(withoutSignals);
    trial.onEnd(() => browser.close());
    trial.signal.addEventListener("abort", () => void browser.close());
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    page.setDefaultTimeout(60_000);
    await page.goto(`${trial.the("url")}/docs`);
    await page.getByPlaceholder("Token").first().fill(key);
    await page.getByRole("link", { name: "List agents" }).first().click();
    await page
      .getByRole("button", { name: /Test Request.*get \/v1\/agents\)/ })
      .first()
      .click();
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === "/v1/agents");
    await page.getByRole("button", { name: /^Send/ }).first().click();
    const status = (await answered).status();
    if (status !== 200) throw new Error(`The request that /docs sent was answered with ${status}.`);
    await browser.close();
    return `${status} for GET /v1/agents`;
  },
};
