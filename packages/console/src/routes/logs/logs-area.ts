import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { parseLogsSearch } from "./logs-search.ts";

const logs = createRoute({
  getParentRoute: () => signedIn,
  path: "/logs",
  validateSearch: parseLogsSearch,
  staticData: { filters: ["environment", "range"] },
  component: lazyPage(() => import("./logs.tsx"), "Logs"),
});

export const logsArea = {
  routes: [logs],
  place: { route: logs, name: "Logs", icon: "log", key: "l" },
} as const satisfies Area;
