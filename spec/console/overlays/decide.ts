import { visit } from "@perch/testkit/console/browser.ts";
import type { Story } from "@perch/testkit/console/story.ts";
import type { Page } from "playwright-core";
import { dialog, type Overlay, press } from "./overlay.ts";

const answer = async (page: Page) => {
  await page.getByLabel("ribbon").selectOption("blue");
  await page.getByLabel("leaves_on").fill("2026-12-01");
  await press("Answer question")(page);
};

/** The page asks before it loses an answer, also when the next page is loaded. */
const discardAnswer = (path: string) => async (page: Page) => {
  await press("Close the approval")(page);
  await press("Discard changes and leave")(page);
  await page.waitForURL(/\/approvals(\?|$)/);
  await visit(page, `/console${path}`);
};

/** Dialogs of a user who may decide. */
export function decideOverlays({ pages }: Story): readonly Overlay[] {
  const on = (name: string, title: string, open: Overlay["open"]): Overlay => {
    const page = pages[name];
    if (typeof page !== "object") throw new Error(`The story has no page ${name} of an approver`);
    return { ...dialog(page.path, title, open), apiKey: page.apiKey };
  };
  const answering = on("approval-question", "Answer the question of ask_shop", answer);
  return [
    on("approval-call", "Approve the call of refund_order", press("Approve call")),
    on("approval-call", "Reject the call of refund_order", press("Reject call")),
    { ...answering, tidy: discardAnswer(answering.path) },
    on("approval-question", "Reject the question of ask_shop", press("Reject question")),
    on("approval-two-approvers", "Approve the call of send_mail", press("Approve call")),
    {
      ...on("approval-call", "", press("Edit arguments")),
      name: "arguments that are edited",
      shown: (page) => page.getByRole("button", { name: "Discard changes" }),
    },
  ];
}
