import { defineReach } from "./reach.ts";

export const reachWebhooks = defineReach({ operations: {} });
