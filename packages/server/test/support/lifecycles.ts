import { randomUUID } from "node:crypto";
import {
  agentStatuses,
  approvalStatuses,
  connectionStatuses,
  deliveryStatuses,
  deploymentStatuses,
  invocationStatuses,
  webhookStatuses,
} from "@perch/contract";
import type pg from "pg";
import { agentTransitions } from "../../src/resources/agents/agent-rules.ts";
import {
  approvalTransitions,
  waitingRunStatuses,
  waitingRunTransitions,
} from "../../src/resources/approvals/approval-rules.ts";
import { connectionTransitions } from "../../src/resources/connections/connection-rules.ts";
import { deploymentTransitions } from "../../src/resources/deployments/deployment-rules.ts";
import type { Transitions } from "../../src/resources/transitions.ts";
import { deliveryTransitions, webhookTransitions } from "../../src/resources/webhooks/webhook-rules.ts";
import { invocationTransitions } from "../../src/runs/record/record-rules.ts";

/** The ids that the rows of every resource refer to. */
export interface Owner {
  readonly organisationId: string;
  readonly agentId: string;
  readonly version: string;
}

type Columns = Readonly<Record<string, unknown>>;

/** A resource whose rows have a status, and how a test makes such a row. */
export interface Lifecycle {
  /** With its article, as the headings of ARCHITECTURE.md have it. */
  readonly of: string;
  readonly table: string;
  readonly statuses: readonly string[];
  readonly transitions: Transitions<string>;
  readonly newRow: (owner: Owner) => Columns;
  /** The other columns that a row needs in this status, for the CHECKs that relate it to them. */
  readonly columnsIn?: (status: string) => Columns;
  /** The mark of a deleted row. Absent if rows are really deleted. */
  readonly deletedMark?: Columns;
}

const at = new Date();

export const lifecycles: readonly Lifecycle[] = [
  {
    of: "an agent",
    table: "agents",
    statuses: agentStatuses,
    transitions: agentTransitions,
    newRow: () => ({ name: `bot-${randomUUID().slice(0, 8)}`, definition: "{}", security: "{}" }),
    deletedMark: { deleted_at: at },
  },
  {
    of: "a deployment",
    table: "deployments",
    statuses: deploymentStatuses,
    transitions: deploymentTransitions,
    newRow: ({ agentId, version }) => ({
      agent_id: agentId,
      environment: "production",
      version,
      traffic_percent: 100,
      origin: randomUUID(),
    }),
    columnsIn: (status) => ({
      activated_at: ["pending", "failed"].includes(status) ? null : at,
      ended_at: ["pending", "active"].includes(status) ? null : at,
    }),
  },
  {
    of: "an invocation",
    table: "invocations",
    statuses: invocationStatuses,
    transitions: invocationTransitions,
    newRow: ({ agentId }) => ({ accepted_at: at, agent_id: agentId, environment: "production", message: "hello" }),
  },
  {
    of: "an approval",
    table: "approvals",
    statuses: approvalStatuses,
    transitions: approvalTransitions,
    newRow: ({ agentId }) => ({
      ...{
        agent_id: agentId,
        run_id: randomUUID(),
        cut: 1,
        step: 1,
        call: 1,
        kind: "tool",
        tool: "pay",
        why: "always",
      },
      ...{ digest: Buffer.alloc(32), environment: "production", invoker_may_decide: false, approvers: 1 },
      ...{ second_factor: false, sealed_call: Buffer.alloc(1), expires_at: at },
    }),
    columnsIn: (status) => ({ decided_at: status === "open" ? null : at }),
  },
  {
    of: "a waiting run",
    table: "waiting_runs",
    statuses: waitingRunStatuses,
    transitions: waitingRunTransitions,
    newRow: ({ agentId }) => ({
      ...{ accepted_at: at, agent_id: agentId, cut: 1, waits_for: "decision", sealed: Buffer.alloc(1) },
      ...{ timeout_seconds: 60, max_concurrent_runs: 1 },
    }),
    columnsIn: (status) => ({ ready_at: status === "waiting" ? null : at }),
  },
  {
    of: "a connection",
    table: "connections",
    statuses: connectionStatuses,
    transitions: connectionTransitions,
    newRow: ({ agentId }) => ({
      ...{ agent_id: agentId, user_id: "ada", tool: `mail-${randomUUID()}`, sealed_grant: Buffer.alloc(1) },
      ...{ sent_to: "https://mail.example", issuer: "https://login.example" },
    }),
    columnsIn: (status) => ({ revoked_at: status === "revoked" ? at : null }),
  },
  {
    of: "a delivery",
    table: "deliveries",
    statuses: deliveryStatuses,
    transitions: deliveryTransitions,
    newRow: () => ({
      created_at: at,
      webhook_id: randomUUID(),
      event_id: randomUUID(),
      event_created_at: at,
      event_type: "agent.completed",
      sweep_after: at,
    }),
    columnsIn: (status) => ({ finished_at: status === "pending" ? null : at }),
  },
  {
    of: "a webhook",
    table: "webhooks",
    statuses: webhookStatuses,
    transitions: webhookTransitions,
    newRow: () => ({ url: "https://hooks.example/x", events: ["agent.failed"], sealed_secret: Buffer.alloc(1) }),
  },
];

export function lifecycleOf(table: string): Lifecycle {
  const lifecycle = lifecycles.find((each) => each.table === table);
  if (!lifecycle) throw new Error(`There is no lifecycle of ${table}.`);
  return lifecycle;
}

/** A status; null means that there is no row. */
export type State = string | null;
export type Step = readonly [from: State, to: State];

export const stepsOf = ({ transitions }: Lifecycle): Step[] =>
  Object.values(transitions).flatMap(({ from, to }) => from.map((state): Step => [state, to]));

/** The states that a row goes through on the shortest way to this one, both ends included; undefined when none leads there. */
function pathTo(steps: readonly Step[], target: State): State[] | undefined {
  const paths: State[][] = [[null]];
  for (const path of paths) {
    if (path.at(-1) === target) return path;
    for (const [from, to] of steps)
      if (from === path.at(-1) && !paths.some((known) => known.includes(to))) paths.push([...path, to]);
  }
  return undefined;
}

/** A row that a test moves from state to state, with statements of the server's role. */
export function createRow(client: pg.Client, lifecycle: Lifecycle, owner: Owner) {
  const { table, newRow, columnsIn, deletedMark } = lifecycle;
  const id = randomUUID();
  const statusColumns = (status: string) => ({ status, ...columnsIn?.(status) });

  const insert = (status: string) => {
    const row = { organisation_id: owner.organisationId, id, ...newRow(owner), ...statusColumns(status) };
    const parameters = Object.keys(row).map((_, i) => `$${i + 1}`);
    return client.query(`insert into ${table} (${Object.keys(row)}) values (${parameters})`, Object.values(row));
  };
  const update = (columns: Columns) => {
    const assignments = Object.keys(columns).map((name, i) => `${name} = $${i + 2}`);
    return client.query(`update ${table} set ${assignments} where id = $1`, [id, ...Object.values(columns)]);
  };
  const remove = () => (deletedMark ? update(deletedMark) : client.query(`delete from ${table} where id = $1`, [id]));

  const move = async ([from, to]: Step): Promise<void> => {
    const { rowCount } = await (to === null ? remove() : from === null ? insert(to) : update(statusColumns(to)));
    if (rowCount !== 1) throw new Error(`${table}: ${rowCount} rows changed.`);
  };
  /** By transitions of the table only. */
  const bringTo = async (state: State): Promise<void> => {
    const path = pathTo(stepsOf(lifecycle), state);
    if (!path) throw new Error(`No transitions of ${table} lead to ${state}.`);
    for (const [i, to] of path.slice(1).entries()) await move([path[i] ?? null, to]);
  };
  return { move, bringTo, update };
}
