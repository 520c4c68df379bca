import type { HostileArea } from "./hostile-area.ts";

export const hostileInstallation: HostileArea = { names: [], plant: async () => ({}) };
