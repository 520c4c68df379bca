import { defineReach } from "./reach.ts";

export const reachMemory = defineReach({ operations: {} });
