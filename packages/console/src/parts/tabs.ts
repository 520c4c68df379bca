/** Of a row of links to the pages of one thing, under its title. */
export const tabsClass = "-mb-px flex gap-5 overflow-x-auto";

export const tabClass =
  "flex h-9 items-center border-transparent border-b-2 text-muted text-table whitespace-nowrap hover:text-text";
