import { type HostileArea, hostile, markup } from "./hostile-area.ts";

const search = (query: Readonly<Record<string, string>>): string => `/metrics?${new URLSearchParams(query)}`;

/** Labels of versions and names of agents and environments cannot contain such text; addresses can. */
export const hostileMetrics: HostileArea = {
  names: [
    "metrics of all agents",
    "metrics of an agent",
    "metrics of hostile versions",
    "metrics of a hostile address",
  ],
  plant: async () => ({
    "metrics of all agents": "/metrics",
    "metrics of an agent": search({ agent: "hostile" }),
    "metrics of hostile versions": search({
      agent: "hostile",
      version: markup.slice(0, 200),
      compare: hostile.slice(-100),
    }),
    "metrics of a hostile address": search({ agent: markup, granularity: markup, version: hostile, compare: markup }),
  }),
};
