import type { Perch } from "../../../../sdk/src/index.ts";
import type { ConsoleServer } from "../console-server.ts";
import type { Shop } from "../shop.ts";

/** What a part of the story is told with. The agents, versions and runs of the tea shop are there already. */
export interface Told {
  readonly perch: Perch;
  readonly server: ConsoleServer;
  readonly shop: Shop;
  readonly organisationId: string;
}

/** An address under `/console`, and the key it is seen with if that is not the story's admin key: no role may approve or operate. */
export type StoryPage = string | { readonly path: string; readonly apiKey: string };

/** Pages that a part of the story adds, by the name of their screenshots. */
export type Pages = Readonly<Record<string, StoryPage>>;
