import type { Command } from "./palette/command.ts";

/** Menus open by the pointer or a key on their own button, and not by a click from elsewhere. */
const selector = "#page [data-page-actions] :is(a, button):not(:disabled, [aria-disabled=true], [aria-haspopup])";

/** What the page offers beside its title. It is read from the page, so no action can be forgotten here. */
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

/** Puts the cursor where the page's list is filtered. Returns false if it has no such field. */
export function focusPageFilter(): boolean {
  const field = document.querySelector<HTMLElement>('#page :is([data-page-filter], input[type="search"])');
  field?.focus();
  return field !== null;
}
