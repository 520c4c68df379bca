import { perch } from "../api/perch.ts";

/** How the browsers name a part of the page that they could not load. */
const missingPart = /dynamically imported module|Importing a module script failed|Unable to preload/i;

/** Whether a part of the console is missing: the server was upgraded since this page was opened, or there is no connection. */
export const isOfOtherRelease = (error: unknown): boolean => error instanceof Error && missingPart.test(error.message);

const wasJustReloaded = (): boolean => {
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return entry?.type === "reload" && performance.now() < 10_000;
};

/** After an upgrade of the server, loads the page anew, once. Without a connection that would lose the current page. */
export async function reloadAfterUpgrade(): Promise<void> {
  if (wasJustReloaded()) return;
  const isReachable = await perch.me({ maxRetries: 0, timeoutSeconds: 5 }).then(
    () => true,
    () => false,
  );
  if (isReachable) location.reload();
}
