import type { HostileArea } from "./hostile-area.ts";

export const hostileWebhooks: HostileArea = { names: [], plant: async () => ({}) };
