import { defineReach } from "./reach.ts";

export const reachLogs = defineReach({ operations: {} });
