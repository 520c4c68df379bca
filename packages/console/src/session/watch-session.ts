import { hashKey } from "@tanstack/react-query";
import { onUnauthorized } from "../api/connection.ts";
import { signInMethodsQuery } from "../api/console-sessions.ts";
import { renewCsrfTokenWith } from "../api/perch.ts";
import { isSignedOut, queryClient } from "../api/query-client.ts";
import type { router as Router } from "../router.tsx";
import { onToldByOtherTab } from "./other-tabs.ts";
import { meQuery } from "./session.ts";
import { setSessionEnded } from "./session-ended.ts";
import { hasUnsaved } from "./unsaved.ts";

const kept = hashKey(signInMethodsQuery.queryKey);

const pauseMs = 500;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));

/** Checks which organisation is signed in now. A change meant for one organisation is not made in another. */
async function isSameOrganisation(): Promise<boolean> {
  const before = queryClient.getQueryData(meQuery.queryKey)?.organisation.id;
  const { organisation } = await queryClient.fetchQuery({ ...meQuery, staleTime: 0 });
  return organisation.id === before;
}

const isSessionEnded = (): Promise<boolean> =>
  queryClient.fetchQuery({ ...meQuery, staleTime: 0 }).then(
    () => false,
    (error: unknown) => isSignedOut(error),
  );

/**
 * A session that ends while the user works leads to the sign-in page, and from there back to the same address. Not every 401 means that the
 * session has ended: agents can ask for a user's token, and during an upgrade a node may not know sessions yet. So the server is asked
 * twice. A page with unsaved work stays and reports that the session has ended.
 */
export function watchSession(router: typeof Router): void {
  let isAsking = false;
  renewCsrfTokenWith(isSameOrganisation);

  const leaveIfEnded = async (): Promise<void> => {
    if (!(await isSessionEnded())) return;
    await pause();
    if (!(await isSessionEnded())) return;
    // Leaving would lose the unsaved work. After a sign-in in another tab the user can still save it here.
    if (hasUnsaved()) return setSessionEnded(true);
    const search = { return_to: router.state.location.publicHref, error: "session_ended" };
    await router.navigate({ to: "/sign-in", search });
    // Only after the pages that show the data are gone, and without the query of the sign-in page itself.
    queryClient.removeQueries({ predicate: ({ queryHash }) => queryHash !== kept });
  };

  onToldByOtherTab((organisationId) => {
    const here = queryClient.getQueryData(meQuery.queryKey)?.organisation.id;
    // Unsaved work stays until the user comes back: the browser may be signed in to this organisation again by then.
    if (here === undefined || here === organisationId || hasUnsaved()) return;
    void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
  });

  onUnauthorized(() => {
    const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined;
    if (!wasSignedIn || isAsking) return;
    isAsking = true;
    void leaveIfEnded().finally(() => {
      isAsking = false;
    });
  });
}
