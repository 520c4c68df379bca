import { readFileSync } from "node:fs";
import { join } from "node:path";
import { agentStatuses } from "@perch/contract";
import { expect, test } from "vitest";
import { withClient } from "../../../scripts/testbed/scratch-database.ts";
import { agentTransitions } from "../src/agents/agent-rules.ts";
import { createTestDatabase } from "./test-database.ts";

const architecture = readFileSync(join(import.meta.dirname, "../../../ARCHITECTURE.md"), "utf8");

test("the states of an agent are the same in code, in the database and in the picture", async () => {
  const picture = /## States of an agent\n\n```mermaid\n([\s\S]*?)```/.exec(architecture)?.[1] ?? "";
  const drawn = [...picture.matchAll(/(\w+) --> (\w+): (\w+)/g)].map(([, from, to, action]) => ({ action, from, to }));
  const coded = Object.entries(agentTransitions).map(([action, transition]) => ({ action, ...transition }));
  expect(coded.length).toBeGreaterThan(0);
  expect(drawn).toEqual(coded);

  const database = await createTestDatabase();
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ check: string }>(
      "select pg_get_constraintdef(oid) as check from pg_constraint where conname = 'agents_status_check'",
    ),
  );
  await database.drop();
  expect([...(rows[0]?.check ?? "").matchAll(/'(\w+)'/g)].map(([, status]) => status)).toEqual([...agentStatuses]);
});
