import { createRoute } from "@tanstack/react-router";
import { openApprovalsQuery } from "../../api/approvals-queries.ts";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const approvals = createRoute({
  getParentRoute: () => signedIn,
  path: "/approvals",
  validateSearch: textSearch("agent", "status", "kind", "user"),
  staticData: { filters: ["environment"] },
  component: lazyPage(() => import("./approvals.tsx"), "Approvals"),
});

const approval = createRoute({
  getParentRoute: () => approvals,
  path: "/$approval",
  component: lazyPage(() => import("./approval.tsx"), "ApprovalPage"),
});

export const approvalsArea = {
  routes: [approvals.addChildren([approval])],
  place: { route: approvals, name: "Approvals", icon: "person", key: "p", openQuery: openApprovalsQuery },
} as const satisfies Area;
