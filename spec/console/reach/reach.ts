import type { ConsoleServer } from "@perch/testkit/console/console-server.ts";
import type { ShopAddresses } from "@perch/testkit/console/shop.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { OperationKey } from "../../../packages/contract/src/index.ts";
import type { Perch } from "../../../packages/sdk/src/index.ts";

/** A separate organisation, with its admin in a browser. */
export interface World {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly perch: Perch;
  readonly apiKey: string;
  readonly organisationId: string;
  readonly server: ConsoleServer;
  readonly shop: ShopAddresses;
  /** Also counts the operations of another browser, for actions that an admin may not take. */
  readonly listenTo: (context: BrowserContext) => void;
}

interface Definition<Prepared> {
  /** Creates the objects that the pages show, with the API. */
  readonly prepare?: (world: World) => Promise<Prepared>;
  /** For each operation, the user's actions in the browser that make the console call it, in their order. */
  readonly operations: { readonly [K in OperationKey]?: (world: World, prepared: Prepared) => Promise<void> };
  /** Stops the services that `prepare` started. */
  readonly end?: (prepared: Prepared) => Promise<void>;
}

/** Operations that one part of the console reaches. */
export interface Reach {
  readonly keys: readonly OperationKey[];
  readonly open: (world: World) => Promise<{
    readonly reach: (key: OperationKey) => Promise<void>;
    readonly end: () => Promise<void>;
  }>;
}

export const defineReach = <Prepared = undefined>({ prepare, operations, end }: Definition<Prepared>): Reach => ({
  keys: Object.keys(operations) as OperationKey[],
  open: async (world) => {
    const prepared = (await prepare?.(world)) as Prepared;
    return {
      reach: async (key) => operations[key]?.(world, prepared),
      end: async () => end?.(prepared),
    };
  },
});
