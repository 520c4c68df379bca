import { narrow, wide } from "@perch/testkit/console/browser.ts";
import type { Story } from "@perch/testkit/console/story.ts";
import type { Locator, Page } from "playwright-core";

/** The address of a page of the story. */
export function pathOf({ pages }: Story, name: string): string {
  const page = pages[name] ?? "";
  return typeof page === "string" ? page : page.path;
}

/** Something that opens over a page, or in it. Opening it changes nothing on the server. */
export interface Overlay {
  readonly name: string;
  readonly path: string;
  readonly open: (page: Page) => Promise<void>;
  /** The element that shows that it is open. */
  readonly shown: (page: Page) => Locator;
  readonly viewports: readonly (typeof wide)[];
  /** The key that it opens for, if not the story's admin key. */
  readonly apiKey?: string;
  /** Undoes the preparation of its opening, once it is closed. */
  readonly tidy?: (page: Page) => Promise<void>;
}

export const both = [narrow, wide];
export const button = (page: Page, name: string | RegExp): Locator => page.getByRole("button", { name }).first();
export const press = (name: string | RegExp) => (page: Page) => button(page, name).click();

export const dialog = (path: string, title: string, open: Overlay["open"]): Overlay => ({
  ...{ name: `dialog "${title}"`, path, open, viewports: both },
  shown: (page) => page.getByRole("dialog", { name: title, exact: true }),
});
export const menu = (path: string, name: string, trigger: string | RegExp): Overlay => ({
  ...{ name: `menu ${name}`, path, open: press(trigger), viewports: both },
  shown: (page) => page.getByRole("menu"),
});
