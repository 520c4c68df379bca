import type { Perch } from "../../../../sdk/src/index.ts";
import type { ConsoleServer } from "../console-server.ts";
import type { Shop } from "../shop.ts";

/** The context of a part of the story. The agents, versions and runs of the tea shop already exist. */
export interface Told {
  readonly perch: Perch;
  readonly server: ConsoleServer;
  readonly shop: Shop;
  readonly organisationId: string;
}

/** An address under `/console`, and its key if that is not the story's admin key: no role may approve or operate. */
export type StoryPage = string | { readonly path: string; readonly apiKey: string };

/** Pages that a part of the story adds, by the name of their screenshots. */
export type Pages = Readonly<Record<string, StoryPage>>;
