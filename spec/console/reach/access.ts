import { defineReach } from "./reach.ts";

export const reachAccess = defineReach({ operations: {} });
