import { createRoute } from "@tanstack/react-router";
import type { Area } from "../../frame/area.ts";
import { signedIn } from "../../frame/signed-in.ts";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { textSearch } from "../../parts/text-search.ts";

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  component: lazyPage(() => import("./settings-frame.tsx"), "SettingsFrame"),
});

const organisation = createRoute({
  getParentRoute: () => settings,
  path: "/",
  component: lazyPage(() => import("./organisation.tsx"), "Organisation"),
});

const sessions = createRoute({
  getParentRoute: () => settings,
  path: "/sessions",
  component: lazyPage(() => import("./sessions.tsx"), "Sessions"),
});

const secondFactor = createRoute({
  getParentRoute: () => settings,
  path: "/second-factor",
  component: lazyPage(() => import("./second-factor.tsx"), "SecondFactor"),
});

const usersData = createRoute({
  getParentRoute: () => settings,
  path: "/users-data",
  validateSearch: textSearch("erasure"),
  component: lazyPage(() => import("./users-data.tsx"), "UsersData"),
});

export const settingsArea = {
  routes: [settings.addChildren([organisation, sessions, secondFactor, usersData])],
  place: { route: settings, name: "Settings", icon: "settings", key: "s", isOwn: true },
} as const satisfies Area;
