import type { Perch } from "../../../packages/sdk/src/index.ts";
import type { ConsoleServer } from "../console-server.ts";
import type { Shop } from "../shop.ts";

/** What a part of the story is told with. The agents, versions and runs of the tea shop are there already. */
export interface Told {
  readonly perch: Perch;
  readonly server: ConsoleServer;
  readonly shop: Shop;
  readonly organisationId: string;
}

/** Pages that a part of the story adds, by the name of their screenshots: addresses under `/console`. */
export type Pages = Readonly<Record<string, string>>;
