import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const events = createRoute({
  getParentRoute: () => signedIn,
  path: "/events",
  validateSearch: textSearch("agent", "type"),
  staticData: { filters: ["range"] },
  component: lazyPage(() => import("./events.tsx"), "Events"),
});

const event = createRoute({
  getParentRoute: () => events,
  path: "/$event",
  component: lazyPage(() => import("./event.tsx"), "EventPage"),
});

export const eventsArea = {
  routes: [events.addChildren([event])],
} as const satisfies Area;
