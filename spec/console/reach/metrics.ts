import { defineReach } from "./reach.ts";

export const reachMetrics = defineReach({ operations: {} });
