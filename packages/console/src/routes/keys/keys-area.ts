import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: "/keys",
  validateSearch: textSearch("agent", "status"),
  component: lazyPage(() => import("./keys.tsx"), "Keys"),
});

const key = createRoute({
  getParentRoute: () => keys,
  path: "/$key",
  component: lazyPage(() => import("./key.tsx"), "KeyPage"),
});

export const keysArea = {
  routes: [keys.addChildren([key])],
  place: { route: keys, name: "Keys", icon: "key", key: "k", isOwn: true },
  needs: { permission: "manage", to: "see or change API keys" },
} as const satisfies Area;
