import { Link } from "@tanstack/react-router";
import { Icon, type IconName } from "../parts/icon.tsx";

interface Place {
  readonly to: "/agents" | "/runs" | "/settings/sessions";
  readonly name: string;
  readonly icon: IconName;
}

const places: readonly Place[] = [
  { to: "/agents", name: "Agents", icon: "agents" },
  { to: "/runs", name: "Runs", icon: "runs" },
];

const own: readonly Place[] = [{ to: "/settings/sessions", name: "Sessions", icon: "person" }];

const RailLink = ({ to, name, icon }: Place) => (
  <Link
    to={to}
    className="flex h-8 items-center gap-2 rounded px-2 text-muted text-table hover:bg-line hover:text-text"
    activeProps={{ className: "bg-accent-soft !text-text font-medium", "aria-current": "page" }}
  >
    <Icon name={icon} />
    {name}
  </Link>
);

export const Rail = () => (
  <nav
    aria-label="Main"
    className="hidden w-[220px] shrink-0 flex-col gap-1 border-line border-r bg-sunken p-2 md:flex"
  >
    <div className="flex h-8 items-center px-2 font-semibold">Perch</div>
    {places.map((place) => (
      <RailLink key={place.to} {...place} />
    ))}
    <hr className="my-2 border-line" />
    {own.map((place) => (
      <RailLink key={place.to} {...place} />
    ))}
  </nav>
);
