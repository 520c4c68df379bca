import { Link } from "@tanstack/react-router";
import { Tabs, tabClass } from "../../parts/tabs.tsx";

const tabs = [
  { to: "/webhooks", name: "Webhooks" },
  { to: "/events", name: "Events" },
] as const;

export const WebhookTabs = () => (
  <Tabs label="Webhooks and events">
    {tabs.map(({ to, name }) => (
      <Link
        key={to}
        to={to}
        className={tabClass}
        activeOptions={{ includeSearch: false }}
        activeProps={{ className: "!border-accent !text-text font-medium", "aria-current": "page" }}
      >
        {name}
      </Link>
    ))}
  </Tabs>
);
