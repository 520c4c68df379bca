import { type HostileArea, hostile, longWord, markup } from "./hostile-area.ts";

/** Labels and environments take no markup. Definitions, their differences, and errors of deployments can be hostile. */
export const hostileShip: HostileArea = {
  names: [
    "deployments of all agents",
    "filters of deployments",
    "timeline of an agent",
    "difference of two deployments",
    "deployment that failed",
    "definition of a version",
  ],
  plant: async (perch) => {
    const agent = "shipped";
    await perch.agents.create({ name: agent, model: "perch/echo", instructions: hostile });
    const first = await perch.deployments.deployAndWait(agent, { environment: "production", version: "v1" });
    const url = `http://127.0.0.1:1/${encodeURIComponent(markup.slice(0, 60))}`;
    await perch.agents.update(agent, {
      instructions: `${markup}\n${longWord}`,
      tools: [
        { type: "http", name: "broken", description: hostile, method: "POST", url, parameters: { type: "object" } },
      ],
    });
    const failed = await perch.deployments.create(agent, { environment: "production", version: "v2" });
    for (let tries = 0; tries < 100; tries++) {
      if ((await perch.deployments.get(agent, failed.id)).status !== "pending") break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return {
      "deployments of all agents": "/deployments",
      "filters of deployments": `/deployments?${new URLSearchParams({ agent, status: markup })}`,
      "timeline of an agent": `/agents/${agent}/deployments`,
      "difference of two deployments": `/agents/${agent}/deployments?from=${first.id}&to=${failed.id}`,
      "deployment that failed": `/agents/${agent}/deployments/${failed.id}`,
      "definition of a version": `/agents/${agent}/versions?shown=v2`,
    };
  },
};
