import { type ConsoleServer, startConsoleServer } from "@perch/testkit/console/console-server.ts";
import { openShop, type ShopAddresses } from "@perch/testkit/console/shop.ts";
import { type Story, tellStory } from "@perch/testkit/console/story.ts";
import { buildConsole } from "@perch/testkit/packaging/build-console.ts";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    consoleServer: ConsoleServer;
    /** An organisation to look at. Tests that change something create their own. */
    story: Story;
    shop: ShopAddresses;
  }
}

/** Builds the console, and starts one server for all files. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  buildConsole();
  const shop = await openShop();
  const { stop, ...server } = await startConsoleServer();
  const end = async () => {
    await stop();
    await shop.close();
  };
  try {
    provide("consoleServer", server);
    const { modelUrl, modelKey, toolUrl, hookUrl } = shop;
    provide("shop", { modelUrl, modelKey, toolUrl, hookUrl });
    provide("story", await tellStory(server, shop));
    return end;
  } catch (error) {
    await end();
    throw error;
  }
}
