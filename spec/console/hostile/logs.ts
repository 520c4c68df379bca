import type { HostileArea } from "./hostile-area.ts";

export const hostileLogs: HostileArea = { names: [], plant: async () => ({}) };
