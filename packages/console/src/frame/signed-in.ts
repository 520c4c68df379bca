import { createRootRouteWithContext, createRoute, redirect } from "@tanstack/react-router";
import { isSignedOut, queryClient } from "../api/query-client.ts";
import { meQuery } from "../session/session.ts";
import type { Area } from "./area.ts";
import { Frame } from "./frame.tsx";
import { NotFound } from "./not-found.tsx";
import { WholePageError } from "./page-error.tsx";
import { parseFrameSearch, retainFrameSearch } from "./search.ts";

export const root = createRootRouteWithContext<{ readonly areas: readonly Area[] }>()({
  notFoundComponent: NotFound,
  errorComponent: WholePageError,
});

/** Every page except the sign-in page. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  validateSearch: parseFrameSearch,
  search: { middlewares: [retainFrameSearch] },
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (isSignedOut(error))
        throw redirect({ to: "/sign-in", search: { return_to: location.publicHref, error: undefined } });
      throw error;
    }
  },
  component: Frame,
  errorComponent: WholePageError,
});
