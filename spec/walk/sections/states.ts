import { answers, equal, holds, single } from "../expectations.ts";
import { decided, type Section, statement } from "../statement.ts";
import { agent, newAgent } from "../world.ts";

export const states: Section = {
  title: "States and transitions",
  statements: [
    statement("states.running", "Agent status is a string; the value running occurs", async (world) => {
      equal(single(await world.call("GET", (await agent(world)).path), 200).status, "running", "status");
      const { data } = answers(await world.call("GET", "/v1/agents?limit=100"), 200);
      const { id } = await agent(world);
      holds(
        data.some((one: { id: string; status: string }) => one.id === id && one.status === "running"),
        "the list",
      );
    }),
    decided(
      "states.only-running",
      "running is the only one that occurs",
      { differs: "An agent can be paused on request, and is then paused until it is resumed.", decision: 54 },
      async (world) => {
        const { path } = await newAgent(world);
        equal(single(await world.call("POST", `${path}/pause`), 200).status, "paused", "status");
        equal(single(await world.call("POST", `${path}/resume`), 200).status, "running", "status");
      },
    ),
  ],
};
