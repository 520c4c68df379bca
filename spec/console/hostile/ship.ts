import type { HostileArea } from "./hostile-area.ts";

export const hostileShip: HostileArea = { names: [], plant: async () => ({}) };
