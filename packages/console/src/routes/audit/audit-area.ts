import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: "/audit",
  validateSearch: textSearch("operation", "resource", "key", "outcome", "entry"),
  staticData: { filters: ["range"] },
  component: lazyPage(() => import("./audit.tsx"), "AuditLog"),
});

export const auditArea = {
  routes: [audit],
  place: { route: audit, name: "Audit log", icon: "list", key: "u", isOwn: true },
  needs: { permission: "manage", to: "read the audit log" },
} as const satisfies Area;
