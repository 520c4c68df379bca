import { hashKey } from "@tanstack/react-query";
import { onSignedOut } from "../api/connection.ts";
import { signInMethodsQuery } from "../api/console-sessions.ts";
import { queryClient } from "../api/query-client.ts";
import type { router as Router } from "../router.tsx";
import { meQuery } from "./session.ts";

const kept = hashKey(signInMethodsQuery.queryKey);

/** A session that ends while somebody works leads to the page to sign in, and from there back to the same address. */
export function watchSession(router: typeof Router): void {
  let isLeaving = false;
  onSignedOut(() => {
    const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined;
    if (!wasSignedIn || isLeaving) return;
    isLeaving = true;
    const search = { return_to: router.state.location.publicHref, error: "session_ended" };
    void router.navigate({ to: "/sign-in", search }).then(() => {
      // Not before the pages are gone that show it, and not what the page to sign in has asked for meanwhile.
      queryClient.removeQueries({ predicate: ({ queryHash }) => queryHash !== kept });
      isLeaving = false;
    });
  });
}
