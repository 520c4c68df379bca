import type { ScratchDatabase } from "../scripts/testbed/scratch-database.ts";
import { runCommand } from "../scripts/testbed/server-process.ts";

const organisationCount = 16;

/** Creates several organisations with an agent `bench` each, because a single one would reach its rate limit. */
export async function createOrganisationsWithAgent(
  database: ScratchDatabase,
  url: string,
  model: string,
  instructions = "",
) {
  const headers: { authorization: string }[] = [];
  for (let i = 0; i < organisationCount; i++) {
    const key = await runCommand(database, ["create-organisation", "--name", `Bench ${i}`, "--tier", "enterprise"]);
    const authorization = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ name: "bench", model, instructions });
    await fetch(`${url}/v1/agents`, {
      method: "POST",
      headers: { ...authorization, "content-type": "application/json" },
      body,
    });
    headers.push(authorization);
  }
  const body = await fetch(`${url}/v1/agents/bench`, { headers: headers[0] ?? {} }).then((response) => response.text());
  return { headers, body };
}
