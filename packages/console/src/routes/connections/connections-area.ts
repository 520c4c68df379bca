import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const connections = createRoute({
  getParentRoute: () => signedIn,
  path: "/connections",
  validateSearch: textSearch("agent", "user", "tool", "status"),
  staticData: { filters: ["environment"] },
  component: lazyPage(() => import("./connections.tsx"), "Connections"),
});

const connection = createRoute({
  getParentRoute: () => connections,
  path: "/$agent/$connection",
  component: lazyPage(() => import("./connection.tsx"), "ConnectionPage"),
});

export const connectionsArea = {
  routes: [connections.addChildren([connection])],
  place: { route: connections, name: "Connections", icon: "plug", key: "c" },
} as const satisfies Area;
