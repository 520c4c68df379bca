import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const memory = createRoute({
  getParentRoute: () => signedIn,
  path: "/memory",
  validateSearch: textSearch("agent", "user", "session", "q", "mode"),
  component: lazyPage(() => import("./memory.tsx"), "MemoryBrowser"),
});

const oneMemory = createRoute({
  getParentRoute: () => memory,
  path: "/$agent/$memory",
  component: lazyPage(() => import("./one-memory.tsx"), "OneMemory"),
});

export const memoryArea = {
  routes: [memory.addChildren([oneMemory])],
  place: { route: memory, name: "Memory", icon: "memory", key: "y" },
} as const satisfies Area;
