import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { scratchSettings } from "@perch/testkit/installation/server-process.ts";

const script = join(import.meta.dirname, "../packages/testkit/src/installation/create-organisations.ts");

type Headers = Readonly<Record<string, string>>;

async function createOrganisations(database: ScratchDatabase, count: number): Promise<Headers[]> {
  const organisations = Array.from({ length: count }, (_, i) => [`Bench ${i}`, "enterprise"]).flat();
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...organisations], {
    env: { ...process.env, ...scratchSettings(database, 0) },
  });
  const keys = stdout.trim().split("\n");
  if (keys.length !== count) throw new Error(`${keys.length} keys for ${count} organisations`);
  return keys.map((key) => ({ authorization: `Bearer ${key}` }));
}

/** Creates this agent in each organisation. */
export async function createAgents(url: string, headers: readonly Headers[], agent: object): Promise<void> {
  for (const each of headers) {
    const response = await fetch(`${url}/v1/agents`, {
      method: "POST",
      headers: { ...each, "content-type": "application/json" },
      body: JSON.stringify(agent),
    });
    if (!response.ok) throw new Error(`POST /v1/agents: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
}

/** Creates several organisations with an agent `bench` each, because a single one would reach its rate limit. */
export async function createOrganisationsWithAgent(
  database: ScratchDatabase,
  url: string,
  model: string,
  organisationCount = 16,
) {
  const headers = await createOrganisations(database, organisationCount);
  await createAgents(url, headers, { name: "bench", model, instructions: "" });
  const body = await fetch(`${url}/v1/agents/bench`, { headers: headers[0] ?? {} }).then((response) => response.text());
  return { headers, body };
}
