import { AsyncLocalStorage } from "node:async_hooks";
import type { Tier } from "@perch/contract";
import type { KnownTiers } from "./shares.ts";

const organisations = new AsyncLocalStorage<string>();

/** Runs `work` for an organisation: its use of shared resources counts as the organisation's. */
export const actFor = <T>(organisationId: string, work: () => T): T => organisations.run(organisationId, work);

/** The organisation that the current work is for; undefined for work of the service itself. */
export const actingOrganisation = (): string | undefined => organisations.getStore();

interface OfOrganisation {
  readonly organisationId: string;
  readonly tier?: Tier;
}

/** The same steps, each of which acts for the organisation of its first argument, and remembers its tier. */
export const actForFirstArgument = <T extends object>(steps: T, tiers?: Pick<KnownTiers, "remember">): T =>
  Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [
      name,
      (first: OfOrganisation, ...rest: unknown[]) => {
        const { organisationId, tier } = first;
        if (tier) tiers?.remember(organisationId, tier);
        return actFor(organisationId, () => step(first, ...rest));
      },
    ]),
  ) as T;
