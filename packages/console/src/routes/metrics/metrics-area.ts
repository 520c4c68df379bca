import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const metrics = createRoute({
  getParentRoute: () => signedIn,
  path: "/metrics",
  validateSearch: textSearch("agent", "granularity", "version", "compare"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./metrics.tsx"), "Metrics"),
});

export const metricsArea = {
  routes: [metrics],
  place: { route: metrics, name: "Metrics", icon: "chart", key: "m" },
} as const satisfies Area;
