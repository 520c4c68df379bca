import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: "/webhooks",
  validateSearch: textSearch("agent", "status"),
  component: lazyPage(() => import("./webhooks.tsx"), "Webhooks"),
});

const webhook = createRoute({
  getParentRoute: () => signedIn,
  path: "/webhooks/$webhook",
  validateSearch: textSearch("delivery_status", "event_type"),
  component: lazyPage(() => import("./webhook.tsx"), "WebhookPage"),
});

const delivery = createRoute({
  getParentRoute: () => webhook,
  path: "/deliveries/$delivery",
  component: lazyPage(() => import("./delivery.tsx"), "DeliveryPage"),
});

export const webhooksArea = {
  routes: [webhooks, webhook.addChildren([delivery])],
  place: { route: webhooks, name: "Webhooks", icon: "hook", key: "w", also: "/events" },
} as const satisfies Area;
