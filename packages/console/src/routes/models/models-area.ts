import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";

const models = createRoute({
  getParentRoute: () => signedIn,
  path: "/models",
  component: lazyPage(() => import("./models.tsx"), "Models"),
});

export const modelsArea = {
  routes: [models],
  place: { route: models, name: "Models", icon: "model", key: "o", isOwn: true },
} as const satisfies Area;
