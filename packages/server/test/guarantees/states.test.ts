import { readFileSync } from "node:fs";
import { join } from "node:path";
import { agentStatuses, deliveryStatuses, deploymentStatuses } from "@perch/contract";
import { expect, test } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { agentTransitions } from "../../src/resources/agents/agent-rules.ts";
import { deploymentTransitions } from "../../src/resources/deployments/deployment-rules.ts";
import { deliveryTransitions } from "../../src/resources/webhooks/webhook-rules.ts";
import { createTestDatabase } from "../support/test-database.ts";

const architecture = readFileSync(join(import.meta.dirname, "../../../../ARCHITECTURE.md"), "utf8");

/** The transitions between two states in the diagram of this section. */
function transitionsInDiagram(heading: string) {
  const [, after = ""] = architecture.split(`## ${heading}\n\n\`\`\`mermaid\n`);
  const [picture = ""] = after.split("```");
  return [...picture.matchAll(/(\w+) --> (\w+): (\w+)/g)].map(([, from, to, action]) => ({ action, from, to }));
}

/** What the database allows in a column. */
async function valuesAllowedBy(constraint: string): Promise<(string | undefined)[]> {
  const database = await createTestDatabase();
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ check: string }>("select pg_get_constraintdef(oid) as check from pg_constraint where conname = $1", [
      constraint,
    ]),
  );
  await database.drop();
  return [...(rows[0]?.check ?? "").matchAll(/'(\w+)'/g)].map(([, status]) => status);
}

test.each([
  { of: "an agent", transitions: agentTransitions, statuses: agentStatuses, check: "agents_status_check" },
  {
    of: "a deployment",
    transitions: deploymentTransitions,
    statuses: deploymentStatuses,
    check: "deployments_status_check",
  },
  { of: "a delivery", transitions: deliveryTransitions, statuses: deliveryStatuses, check: "deliveries_status_check" },
])("the states of $of are the same in code, in the database and in ARCHITECTURE.md", async (states) => {
  verifies("deployment.statuses");
  const codeTransitions = Object.entries(states.transitions).map(([action, transition]) => ({ action, ...transition }));
  expect(codeTransitions.length).toBeGreaterThan(0);
  expect(transitionsInDiagram(`States of ${states.of}`)).toEqual(codeTransitions);
  expect(await valuesAllowedBy(states.check)).toEqual([...states.statuses]);
});
