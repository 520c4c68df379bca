import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const deployments = createRoute({
  getParentRoute: () => signedIn,
  path: "/deployments",
  validateSearch: textSearch("agent", "status"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./deployments.tsx"), "Deployments"),
});

export const deploymentsArea = {
  routes: [deployments],
  place: { route: deployments, name: "Deployments", icon: "split", key: "d" },
} as const satisfies Area;
