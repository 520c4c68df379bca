import { defineReach } from "./reach.ts";

export const reachShip = defineReach({ operations: {} });
