import { defineReach } from "./reach.ts";

export const reachSettings = defineReach({ operations: {} });
