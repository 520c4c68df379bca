import type { Command } from "./palette/command.ts";

/** A menu opens only by the pointer or a key on its own button, not by a synthetic click. */
const selector = "#page [data-page-actions] :is(a, button):not(:disabled, [aria-disabled=true], [aria-haspopup])";

/** The actions beside the page's title. They are read from the page, so that the palette cannot miss one. */
export const listPageActions = (): readonly Command[] =>
  [...document.querySelectorAll<HTMLElement>(selector)].flatMap((element, index) => {
    const name = (element.getAttribute("aria-label") ?? element.textContent).trim();
    return name === ""
      ? []
      : [
          {
            id: `action ${index}`,
            group: "This page" as const,
            name,
            icon: "play" as const,
            run: () => {
              // A dialog that it opens gives the focus back to it.
              element.focus();
              element.click();
            },
          },
        ];
  });

/** Focuses the filter field of the page's list. Returns false if the page has no such field. */
export function focusPageFilter(): boolean {
  const field = document.querySelector<HTMLElement>('#page :is([data-page-filter], input[type="search"])');
  field?.focus();
  return field !== null;
}
