import type { Locator, Page } from "playwright-core";

/** How a test operates a page: by pointer or by keyboard. */
export interface Hand {
  /** Presses a button, follows a link, chooses from a menu. */
  readonly press: (target: Locator) => Promise<void>;
  /** Opens a row of a grid: the first, for the keyboard. */
  readonly open: (grid: Locator, row: Locator) => Promise<void>;
  /** Writes into a field, replacing its text. */
  readonly write: (field: Locator, text: string) => Promise<void>;
}

export const mouse = (): Hand => ({
  press: (target) => target.click(),
  open: (_, row) => row.click(),
  write: (field, text) => field.fill(text),
});

/** More than any page has. */
const maxTabs = 80;

/** Only what is needed here: tests have no types of the browser. */
interface PageElement {
  readonly matches: (selector: string) => boolean;
}

export const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((element: PageElement) => element.matches(":focus"));

/** The keyboard only: Tab until the target has a visible focus, then Enter. */
export function keyboard(page: Page): Hand {
  const reach = async (target: Locator): Promise<void> => {
    await target.waitFor();
    for (let tabs = 0; !(await hasFocus(target)); tabs++) {
      if (tabs === maxTabs) throw new Error(`Tab does not lead to ${String(target)}`);
      await page.keyboard.press("Tab");
    }
    const isMarked = await page.evaluate<boolean>(`(() => {
      const element = document.activeElement;
      // In a grid, the row with the keyboard's cursor is marked.
      const marked = document.getElementById(element.getAttribute("aria-activedescendant")) ?? element;
      const { outlineStyle, boxShadow } = getComputedStyle(marked);
      return element.matches(":focus-visible") && (outlineStyle !== "none" || boxShadow !== "none");
    })()`);
    if (!isMarked) throw new Error(`The focus on ${String(target)} cannot be seen`);
  };
  /** In a menu, arrows move. */
  const choose = async (item: Locator): Promise<void> => {
    for (let moves = 0; !(await hasFocus(item)); moves++) {
      if (moves === maxTabs) throw new Error(`Arrows do not lead to ${String(item)}`);
      await page.keyboard.press("ArrowDown");
    }
  };
  return {
    press: async (target) => {
      await target.waitFor();
      const isMenuItem = (await target.getAttribute("role"))?.startsWith("menuitem") === true;
      await (isMenuItem ? choose(target) : reach(target));
      await page.keyboard.press("Enter");
    },
    open: async (grid) => {
      await reach(grid);
      await page.keyboard.press("Enter");
    },
    write: async (field, text) => {
      await reach(field);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
    },
  };
}
