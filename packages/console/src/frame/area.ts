import type { Me } from "@perch/sdk";
import { type AnyRoute, useRouteContext } from "@tanstack/react-router";
import type { openApprovalsQuery } from "../api/approvals-queries.ts";
import type { IconName } from "../parts/icon.tsx";
import { useMe } from "../session/session.ts";

type Permission = Me["key"]["permissions"][number];

/** The entry of an area in the rail, in the palette and among the keys. */
export interface Place {
  readonly route: AnyRoute;
  readonly name: string;
  readonly icon: IconName;
  /** After `g`, this key goes there. */
  readonly key: string;
  /** Another page that is part of it, under an address of its own. */
  readonly also?: string;
  /** It is about who may do what, or about the organisation itself, and not about agents and their work. */
  readonly isOwn?: boolean;
  /** Counts what waits there. */
  readonly openQuery?: typeof openApprovalsQuery;
}

/** What the console knows about a part of itself. Only `router.tsx` lists the areas. */
export interface Area {
  /** Below `signedIn`, but for the page to sign in. */
  readonly routes: readonly AnyRoute[];
  readonly place?: Place;
  /** What else the palette offers. */
  readonly commands?: readonly {
    readonly route: AnyRoute;
    readonly name: string;
    readonly icon: IconName;
    /** Other words that find it. */
    readonly words?: string;
    readonly permission: Permission;
  }[];
  /** Who does not hold the permission is not shown the way, and in place of the page, what it is needed to do. */
  readonly needs?: { readonly permission: Permission; readonly to?: string };
}

export const useAreas = (): readonly Area[] => useRouteContext({ from: "__root__", select: ({ areas }) => areas });

export const placesOf = (areas: readonly Area[]): readonly Place[] => areas.flatMap(({ place }) => place ?? []);

/** The places that these permissions allow to see. */
export function useShownPlaces(): readonly Place[] {
  const { permissions } = useMe().key;
  return placesOf(useAreas().filter(({ needs }) => !needs || permissions.includes(needs.permission)));
}
