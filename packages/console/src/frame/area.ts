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
  /** Another page of the same area, with its own address. */
  readonly also?: string;
  /** The area is about access or the organisation itself, not about agents and their work. */
  readonly isOwn?: boolean;
  /** Counts the open items of the area. */
  readonly openQuery?: typeof openApprovalsQuery;
}

/** The description of one area of the console. Only `router.tsx` lists the areas. */
export interface Area {
  /** Children of `signedIn`, except the sign-in page. */
  readonly routes: readonly AnyRoute[];
  readonly place?: Place;
  /** Additional commands of the palette. */
  readonly commands?: readonly {
    readonly route: AnyRoute;
    readonly name: string;
    readonly icon: IconName;
    /** Other words that find it. */
    readonly words?: string;
    readonly permission: Permission;
  }[];
  /** A user without the permission does not see the entry. Opened by its address, the page explains which permission it needs. */
  readonly needs?: { readonly permission: Permission; readonly to?: string };
}

export const useAreas = (): readonly Area[] => useRouteContext({ from: "__root__", select: ({ areas }) => areas });

export const placesOf = (areas: readonly Area[]): readonly Place[] => areas.flatMap(({ place }) => place ?? []);

/** The places that the user's permissions allow. */
export function useShownPlaces(): readonly Place[] {
  const { permissions } = useMe().key;
  return placesOf(useAreas().filter(({ needs }) => !needs || permissions.includes(needs.permission)));
}
