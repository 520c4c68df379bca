import type { HostileArea } from "./hostile-area.ts";

export const hostileDecide: HostileArea = { names: [], plant: async () => ({}) };
