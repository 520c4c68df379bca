import type { HostileArea } from "./hostile-area.ts";

export const hostileAccess: HostileArea = { names: [], plant: async () => ({}) };
