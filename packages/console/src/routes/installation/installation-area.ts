import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";

const installation = createRoute({
  getParentRoute: () => signedIn,
  path: "/installation",
  component: lazyPage(() => import("./installation.tsx"), "Installation"),
});

export const installationArea = {
  routes: [installation],
  place: { route: installation, name: "Installation", icon: "server", key: "i", isOwn: true },
  // The page itself explains who may see it, and how.
  needs: { permission: "operate" },
} as const satisfies Area;
