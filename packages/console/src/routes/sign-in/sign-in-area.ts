import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { root } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>) => ({
    return_to: typeof search.return_to === "string" ? search.return_to : undefined,
    error: typeof search.error === "string" ? search.error : undefined,
  }),
  component: lazyPage(() => import("./sign-in.tsx"), "SignIn"),
});

export const signInArea = {
  routes: [signIn],
} as const satisfies Area;
