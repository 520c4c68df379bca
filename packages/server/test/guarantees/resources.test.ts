import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operationKeys } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  auditedCollections,
  createHousekeeping,
  createReconcile,
  dataKeyPurposes,
  eraseStages,
  receiptParts,
  resources,
} from "../../src/compose/resources.ts";
import { isAudited } from "../../src/resources/audit/audit-entry.ts";
import { createResourceTypeOf } from "../../src/resources/audit/audit-rules.ts";
import type { Resource } from "../../src/resources/resource.ts";
import { type Catalogue, findOmissions, readCatalogue } from "../support/resource-omissions.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

const rules = readFileSync(join(import.meta.dirname, "../../../../deploy/alerts/perch.yaml"), "utf8");
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);

let database: TestDatabase;
let catalogue: Catalogue;
beforeAll(async () => {
  database = await createTestDatabase();
  catalogue = await withClient(database.ownerUrl, readCatalogue);
});
afterAll(() => database.drop());

const all: readonly Resource[] = resources;
/** The list with one resource changed. */
const withChanged = (name: string, change: (resource: Resource) => Resource): readonly Resource[] =>
  all.map((resource) => (resource.name === name ? change(resource) : resource));

describe("every resource declares", () => {
  test("every table, operation, event and quota once, the eraser of each column that names a user, and nothing that does not exist", () => {
    expect(catalogue.tables.length).toBeGreaterThan(35);
    expect(catalogue.functions.size).toBeGreaterThan(60);
    expect(findOmissions(catalogue, all, alerts)).toEqual([]);
  });

  const approvals = all.find(({ name }) => name === "approvals")?.tables.approvals;
  const changedTable = (change: object) =>
    withChanged("approvals", (resource) => ({
      ...resource,
      tables: { approvals: { ...approvals, ...change } as never },
    }));

  test.each<[string, () => readonly Resource[], string]>([
    [
      "a table",
      () => withChanged("approvals", (resource) => ({ ...resource, tables: {} })),
      "table approvals is declared 0 times",
    ],
    [
      "a table twice",
      () => [...all, { name: "second", tables: { approvals } as never }],
      "table approvals is declared 2 times",
    ],
    [
      "a column that names a user",
      () => changedTable({ users: { user_id: { by: "erase_user_runs" } } }),
      "approvals.session_id is not erased",
    ],
    [
      "what erases it",
      () => changedTable({ users: { user_id: { by: "erase_log_entries" }, session_id: { kept: "" } } }),
      "approvals.user_id: erase_log_entries does not erase it",
    ],
    [
      "a stage of its own that erases it",
      () => changedTable({ users: { user_id: { by: "memories" }, session_id: { kept: "" } } }),
      "approvals.user_id: memories does not erase it",
    ],
    [
      "what goes with its agent",
      () => changedTable({ agent: undefined }),
      "approvals: what goes with its agent is not declared",
    ],
    [
      "who deletes it with its agent",
      () => changedTable({ agent: "bound" }),
      "approvals: purge_agent and its declaration differ",
    ],
    ["its bound", () => changedTable({ bound: "partitions" }), "approvals: its bound is not partitions"],
    [
      "the function that purges it",
      () => changedTable({ purge: { function: "purge_clears", keptDays: [1] } }),
      "approvals: purge_clears does not purge it",
    ],
    [
      "its operations",
      () => withChanged("approvals", ({ handlers: _, ...resource }) => resource),
      "operation GET /v1/approvals is declared 0 times",
    ],
    [
      "its event",
      () => withChanged("approvals", ({ publishes: _, ...resource }) => resource),
      "event agent.action_required is declared 0 times",
    ],
    [
      "its quota",
      () => withChanged("secrets", ({ quotas: _, ...resource }) => resource),
      "quota secrets is declared 0 times",
    ],
    [
      "a column that there is",
      () => changedTable({ users: { ...approvals?.users, owner: { kept: "" } } }),
      "approvals.owner is not in the table, or cannot name a user",
    ],
    [
      "a collection of its own",
      () => withChanged("secrets", (resource) => ({ ...resource, audited: { approvals: "secret" } })),
      "collection approvals is declared 2 times",
    ],
    [
      "an alert that there is",
      () => withChanged("approvals", (resource) => ({ ...resource, alerts: ["PerchNothing"] })),
      "there is no alert PerchNothing",
    ],
  ])("a list without %s is found out", (_, planted, omission) => {
    expect(findOmissions(catalogue, planted(), alerts)).toContain(omission);
  });
});

/** A second opinion, which the list does not know: these words are part of encrypted data. */
test("the purposes of data keys stay as they are", () => {
  expect(dataKeyPurposes.toSorted()).toEqual([
    ...["agent auth", "api key digest", "approval digests", "approval links", "approvals", "connection digests"],
    ...["connection links", "connections", "console sessions", "enrolment tokens", "erasures", "idempotent answers"],
    ...["model providers", "person tokens", "recovery codes", "run contents", "second factors", "secrets"],
    ...["signing keys", "step-up tokens", "webhook secrets"],
  ]);
});

test("the audit log has a name for the object of each change", () => {
  const typeOf = createResourceTypeOf(auditedCollections);
  const unnamed = operationKeys.filter((key) => isAudited(key) && typeOf(key) === "organisation");
  expect(unnamed).toEqual(["PATCH /v1/organisation"]);
});

/** A second opinion: the order that the list must have, written down apart from it. */
describe("the order of the resources", () => {
  test("preserves the places of the stages of erasures, which are stored", () => {
    expect(eraseStages({} as never).map(({ name }) => name)).toEqual([
      "connections",
      "connection_events",
      "memories",
      "log_entries",
      "answers",
      "audit_entries",
    ]);
  });

  test("notifies providers of connections before agents and connections are purged", () => {
    const steps = createHousekeeping({} as never).map(({ name }) => name);
    const at = (name: string) => steps.indexOf(name);
    expect(at("revoke_connections")).toBeGreaterThanOrEqual(0);
    for (const purge of ["purge_agents", "purge_connections"])
      for (const revocation of ["revoke_connections", "connections_of_deleted_agents"])
        expect(at(revocation), `${revocation} before ${purge}`).toBeLessThan(at(purge));
    expect(at("clears")).toBeLessThan(at("purge_agents"));
  });

  test("looks for lost runs before anything else that the engine may have lost", () => {
    expect(createReconcile({} as never).map(({ name }) => name)).toEqual([
      ...["runs", "slots", "deployments", "canaries", "waiting_runs", "clears", "embeddings"],
    ]);
  });

  test("takes the lock on the memory of a deleted agent last", () => {
    const deleting = resources.filter((resource) => "onAgentDelete" in resource).map(({ name }) => name);
    expect(deleting.toReversed()).toEqual(["secrets", "keys", "webhooks", "memory"]);
  });

  test("preserves the order of receipts", () => {
    expect(Object.keys(receiptParts)).toEqual([
      ...["connections", "memories", "session_messages", "runs", "run_contents", "waiting_runs", "approvals"],
      ...["log_entries", "events", "deliveries", "delivery_attempts", "memory_clears", "kept_answers"],
      ...["audit_entries", "engine_runs", "engine_sent", "streams"],
    ]);
  });
});
