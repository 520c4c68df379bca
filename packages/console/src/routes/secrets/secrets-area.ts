import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const secrets = createRoute({
  getParentRoute: () => signedIn,
  path: "/secrets",
  validateSearch: textSearch("agent"),
  component: lazyPage(() => import("./secrets.tsx"), "Secrets"),
});

export const secretsArea = {
  routes: [secrets],
  place: { route: secrets, name: "Secrets", icon: "lock", key: "t", isOwn: true },
} as const satisfies Area;
