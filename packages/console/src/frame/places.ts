import type { IconName } from "../parts/icon.tsx";

export interface Place {
  readonly to: "/agents" | "/runs" | "/settings/sessions";
  readonly name: string;
  readonly icon: IconName;
  /** After `g`, this key goes there. */
  readonly key: string;
}

/** The pages that are always one click away. */
export const places: readonly Place[] = [
  { to: "/agents", name: "Agents", icon: "agents", key: "a" },
  { to: "/runs", name: "Runs", icon: "runs", key: "r" },
];

/** Those that are about the reader and not about agents. */
export const ownPlaces: readonly Place[] = [{ to: "/settings/sessions", name: "Sessions", icon: "person", key: "s" }];
