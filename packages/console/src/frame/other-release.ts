/** How the browsers name a part of the page that they could not load. */
const missingPart = /dynamically imported module|Importing a module script failed|Unable to preload/i;

/** Whether a part of the console is missing: the server was upgraded since this page was opened, and has other files now. */
export const isOfOtherRelease = (error: unknown): boolean => error instanceof Error && missingPart.test(error.message);

const wasJustReloaded = (): boolean => {
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return entry?.type === "reload" && performance.now() < 10_000;
};

/** After an upgrade of the server, a page that is opened next loads anew, once. */
export function reloadAfterUpgrade(): void {
  addEventListener("vite:preloadError", () => {
    if (navigator.onLine && !wasJustReloaded()) location.reload();
  });
}
