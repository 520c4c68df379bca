import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { narrow, settle, type Theme, wide } from "@perch/testkit/console/browser.ts";
import type { Page } from "playwright-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** A theme changes only colours, so the second one is checked only for rules about colours. */
const rulesOfColours = `runOnly: ["color-contrast", "link-in-text-block"]`;

interface Look {
  readonly theme: Theme;
  readonly rules: "all" | "colours";
}

/** Runs axe on the current page in these themes. Playwright evaluates past the page's policy. */
async function barriersOf(tab: Page, looks: readonly Look[]): Promise<string[]> {
  const found: string[] = [];
  for (const { theme, rules } of looks) {
    const options = `{ resultTypes: ["violations"], preload: false, ${rules === "all" ? "" : rulesOfColours} }`;
    const violations = await tab.evaluate<Violation[]>(`(async () => {
      document.documentElement.dataset.theme = "${theme}";
      return (await axe.run(document, ${options})).violations;
    })()`);
    for (const { id, help, nodes } of violations)
      for (const { target, failureSummary } of nodes)
        found.push(`${theme} ${id}: ${help}: ${target.join(" ")}: ${failureSummary.split("\n").slice(1, 2).join("")}`);
  }
  return found;
}

/** The required tier looks once, at the last width. */
const isFullTier = process.env.TEST_TIER !== "required";
const light: Look = { theme: "light", rules: "all" };
const dark: Look = { theme: "dark", rules: isFullTier ? "colours" : "all" };

/** Colours do not depend on the width, so the second theme is looked at once. */
function looksAt(isLast: boolean): readonly Look[] {
  if (!isFullTier) return isLast ? [dark] : [];
  return isLast ? [light, dark] : [light];
}

/** Runs axe on the current page at each of these widths, and leaves it at the last of them. */
export async function barriersAt(tab: Page, viewports: readonly (typeof wide)[] = [narrow, wide]): Promise<string[]> {
  if (!(await tab.evaluate<boolean>("'axe' in window"))) await tab.evaluate(axeSource);
  const found: string[] = [];
  for (const viewport of viewports) {
    const looks = looksAt(viewport === viewports.at(-1));
    if (looks.length === 0) continue;
    await tab.setViewportSize(viewport);
    await settle(tab);
    found.push(...(await barriersOf(tab, looks)).map((each) => `${viewport.width} ${each}`));
  }
  return found;
}
