import type { HostileArea } from "./hostile-area.ts";

export const hostileMetrics: HostileArea = { names: [], plant: async () => ({}) };
