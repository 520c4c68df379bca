import { defineReach } from "./reach.ts";

export const reachInstallation = defineReach({ operations: {} });
