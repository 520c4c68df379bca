import type { HostileArea } from "./hostile-area.ts";

export const hostileMemory: HostileArea = { names: [], plant: async () => ({}) };
