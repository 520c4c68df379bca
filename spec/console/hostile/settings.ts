import type { HostileArea } from "./hostile-area.ts";

export const hostileSettings: HostileArea = { names: [], plant: async () => ({}) };
