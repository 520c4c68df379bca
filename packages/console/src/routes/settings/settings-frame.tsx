import { Link, Outlet } from "@tanstack/react-router";
import { Suspense } from "react";
import { Page } from "../../parts/page.tsx";
import { Tabs, tabClass } from "../../parts/tabs.tsx";
import { Working } from "../../parts/working.tsx";

const tabs = [
  { to: "/settings", name: "Organisation" },
  { to: "/settings/sessions", name: "Sessions" },
  { to: "/settings/second-factor", name: "Second factor" },
  { to: "/settings/users-data", name: "Users' data" },
] as const;

/** The pages about the organisation and its people, not about one agent. */
export const SettingsFrame = () => (
  <Page
    title="Settings"
    below={
      <Tabs label="Pages of the settings">
        {tabs.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            className={tabClass}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ className: "!border-accent !text-text font-medium", "aria-current": "page" }}
          >
            {name}
          </Link>
        ))}
      </Tabs>
    }
  >
    <Suspense fallback={<Working what="the page" />}>
      <Outlet />
    </Suspense>
  </Page>
);
