import { useIsSessionEnded } from "../session/session-ended.ts";

/**
 * Shown if the session ends while something is unsaved. The page stays and explains how to go on. It checks again when the user comes back
 * to the tab.
 */
export function SessionLine() {
  const isEnded = useIsSessionEnded();
  return (
    <div role="status" className="shrink-0">
      {isEnded && (
        <p className="border-line border-b bg-warning-soft px-4 py-1 text-small text-warning">
          Your session has ended.{" "}
          <a href="/console/sign-in" target="_blank" rel="noopener" className="underline">
            Sign in in another tab
          </a>
          , then continue here: your changes are still on this page.
        </p>
      )}
    </div>
  );
}
