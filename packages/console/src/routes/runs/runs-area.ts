import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";
import { parseRunSearch } from "./run-search.ts";

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs",
  validateSearch: textSearch("agent", "status", "session", "user", "version"),
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./runs.tsx"), "Runs"),
});

const run = createRoute({
  getParentRoute: () => runs,
  path: "/$agent/$run",
  validateSearch: parseRunSearch,
  component: lazyPage(() => import("./run.tsx"), "RunPage"),
});

export const runsArea = {
  routes: [runs.addChildren([run])],
  place: { route: runs, name: "Runs", icon: "runs", key: "r" },
} as const satisfies Area;
