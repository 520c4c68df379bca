import { defineReach } from "./reach.ts";

export const reachDecide = defineReach({ operations: {} });
