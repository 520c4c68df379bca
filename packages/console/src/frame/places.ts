import type { Me } from "@perch/sdk";
import type { IconName } from "../parts/icon.tsx";

export interface Place {
  readonly to:
    | "/agents"
    | "/runs"
    | "/approvals"
    | "/deployments"
    | "/logs"
    | "/metrics"
    | "/memory"
    | "/connections"
    | "/webhooks"
    | "/keys"
    | "/secrets"
    | "/models"
    | "/audit"
    | "/settings"
    | "/installation";
  readonly name: string;
  readonly icon: IconName;
  /** Another page that is part of it, under an address of its own. */
  readonly also?: string;
  /** After `g`, this key goes there. */
  readonly key: string;
  /** Who does not hold it is not shown the way. */
  readonly permission?: Me["key"]["permissions"][number];
}

/** The pages about agents and their work. */
export const places: readonly Place[] = [
  { to: "/agents", name: "Agents", icon: "agents", key: "a" },
  { to: "/runs", name: "Runs", icon: "runs", key: "r" },
  { to: "/approvals", name: "Approvals", icon: "person", key: "p" },
  { to: "/deployments", name: "Deployments", icon: "split", key: "d" },
  { to: "/logs", name: "Logs", icon: "log", key: "l" },
  { to: "/metrics", name: "Metrics", icon: "chart", key: "m" },
  { to: "/memory", name: "Memory", icon: "memory", key: "y" },
  { to: "/connections", name: "Connections", icon: "plug", key: "c" },
  { to: "/webhooks", name: "Webhooks", icon: "hook", key: "w", also: "/events" },
];

/** Those about who may do what, and about the organisation itself. */
export const ownPlaces: readonly Place[] = [
  { to: "/keys", name: "Keys", icon: "key", key: "k", permission: "manage" },
  { to: "/secrets", name: "Secrets", icon: "lock", key: "t" },
  { to: "/models", name: "Models", icon: "model", key: "o" },
  { to: "/audit", name: "Audit log", icon: "list", key: "u", permission: "manage" },
  { to: "/settings", name: "Settings", icon: "settings", key: "s" },
  { to: "/installation", name: "Installation", icon: "server", key: "i", permission: "operate" },
];

export const placeName = (to: Place["to"]): string =>
  [...places, ...ownPlaces].find((place) => place.to === to)?.name ?? to;

/** The places that somebody with these permissions is shown. */
export const placesFor = (
  permissions: readonly string[],
): { readonly places: readonly Place[]; readonly ownPlaces: readonly Place[] } => {
  const isShown = ({ permission }: Place): boolean => permission === undefined || permissions.includes(permission);
  return { places: places.filter(isShown), ownPlaces: ownPlaces.filter(isShown) };
};
