import { eventTypes, operationKeys, quotaNames } from "@perch/contract";
import type pg from "pg";
import type { Table } from "../../src/db/tables.ts";
import type { EraseStage } from "../../src/resources/erasure-stage.ts";
import type { Resource } from "../../src/resources/resource.ts";

interface CatalogueTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isPartitioned: boolean;
}

/** The facts from the database itself. */
export interface Catalogue {
  readonly tables: readonly CatalogueTable[];
  /** Texts of our database functions, by name. */
  readonly functions: ReadonlyMap<string, string>;
}

export async function readCatalogue(client: pg.Client): Promise<Catalogue> {
  const tables = await client.query<{ name: string; columns: string[]; is_partitioned: boolean }>(`
    select c.relname::text as name,
           array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
           c.relname in (select name from partitioned_tables) as is_partitioned
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`);
  const functions = await client.query<{ name: string; source: string }>(`
    select p.proname::text as name, pg_get_functiondef(p.oid) as source
      from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`);
  return {
    tables: tables.rows.map(({ name, columns, is_partitioned }) => ({ name, columns, isPartitioned: is_partitioned })),
    functions: new Map(functions.rows.map(({ name, source }) => [name, source])),
  };
}

/** Columns with such names can name a user of an agent, or another person. */
const canNameUser = (column: string): boolean =>
  /(^|_)(user|owner|person|subject)(_|$)|^session_id$/.test(column) && column !== "user_agent";

/** As a whole word. */
const names = (source: string, table: string): boolean => new RegExp(`\\b${table}\\b`).test(source);

const namesOf = (stages: readonly EraseStage[] | undefined): string[] => (stages ?? []).map(({ name }) => name);

function findOmissionsOfUsers({ name, columns }: CatalogueTable, table: Table, catalogue: Catalogue, stages: string[]) {
  const declared = table.users ?? {};
  const wanted = columns.filter(canNameUser);
  return [
    ...wanted.filter((column) => !(column in declared)).map((column) => `${name}.${column} is not erased`),
    ...Object.keys(declared)
      .filter((column) => !wanted.includes(column))
      .map((column) => `${name}.${column} is not in the table, or cannot name a user`),
    ...Object.entries(declared).flatMap(([column, how]) => {
      if ("kept" in how || stages.includes(how.by)) return [];
      const source = catalogue.functions.get(how.by);
      return source && names(source, name) ? [] : [`${name}.${column}: ${how.by} does not erase it`];
    }),
  ];
}

function findOmissionsOfBound({ name, isPartitioned }: CatalogueTable, table: Table, catalogue: Catalogue) {
  const { bound, purge } = table;
  return [
    ...((bound === "partitions") === isPartitioned ? [] : [`${name}: its bound is not ${bound}`]),
    ...(purge && !names(catalogue.functions.get(purge.function) ?? "", name)
      ? [`${name}: ${purge.function} does not purge it`]
      : []),
  ];
}

function findOmissionsOfAgent({ name, columns }: CatalogueTable, { agent }: Table, catalogue: Catalogue) {
  const hasAgent = columns.includes("agent_id") || name === "agents";
  if (hasAgent !== (agent !== undefined)) return [`${name}: what goes with its agent is not declared`];
  const isPurged = catalogue.functions.get("purge_agent")?.includes(`delete from ${name} `);
  return (agent === "purge_agent") === isPurged ? [] : [`${name}: purge_agent and its declaration differ`];
}

/** Names that several declare, or none. */
function findUnequal(what: string, wanted: readonly string[], declared: readonly string[]): string[] {
  const counts = new Map(wanted.map((name) => [name, declared.filter((each) => each === name).length]));
  const unknown = declared.filter((name) => !counts.has(name));
  return [
    ...[...counts]
      .filter(([, count]) => count !== 1)
      .map(([name, count]) => `${what} ${name} is declared ${count} times`),
    ...unknown.map((name) => `there is no ${what} ${name}`),
  ];
}

const findTwice = (what: string, declared: readonly string[]): string[] =>
  findUnequal(what, [...new Set(declared)], declared);

/** Everything that the database, the contract and the alerts have and no declaration, or several. */
export function findOmissions(
  catalogue: Catalogue,
  resources: readonly Resource[],
  alerts: readonly string[],
): readonly string[] {
  const stagesOf = ({ erasure }: Resource) => namesOf(erasure?.stages?.({} as never));
  const tables = new Map(
    resources.flatMap((resource) =>
      Object.entries(resource.tables).map(([name, table]) => [name, { table, stages: stagesOf(resource) }] as const),
    ),
  );
  const keys = resources.flatMap(({ dataKeys }) => Object.keys(dataKeys ?? {}));
  const operationsOf = (resource: Resource) => Object.keys(resource.handlers?.({ telemetry: {} } as never) ?? {});
  return [
    ...findUnequal(
      "table",
      catalogue.tables.map(({ name }) => name),
      resources.flatMap((resource) => Object.keys(resource.tables)),
    ),
    ...catalogue.tables.flatMap((found) => {
      const declared = tables.get(found.name);
      if (!declared) return [];
      const { table, stages } = declared;
      return [
        ...findOmissionsOfUsers(found, table, catalogue, stages),
        ...findOmissionsOfBound(found, table, catalogue),
        ...findOmissionsOfAgent(found, table, catalogue),
      ];
    }),
    ...findUnequal("operation", operationKeys, resources.flatMap(operationsOf)),
    ...findUnequal(
      "event",
      eventTypes,
      resources.flatMap(({ publishes }) => publishes ?? []),
    ),
    ...findUnequal(
      "quota",
      quotaNames,
      resources.flatMap(({ quotas }) => Object.keys(quotas ?? {})),
    ),
    ...findTwice("key use", keys),
    ...findTwice("stage", resources.flatMap(stagesOf)),
    ...findTwice(
      "part of the receipt",
      resources.flatMap(({ erasure }) => Object.keys(erasure?.receipt ?? {})),
    ),
    ...findTwice(
      "collection",
      resources.flatMap(({ audited }) => Object.keys(audited ?? {})),
    ),
    ...findTwice(
      "alert",
      resources.flatMap(({ alerts: own }) => own ?? []),
    ),
    ...resources.flatMap(({ alerts: own = [] }) =>
      own.filter((alert) => !alerts.includes(alert)).map((alert) => `there is no alert ${alert}`),
    ),
    ...resources
      .filter(({ quotas, tables: own }) => !quotas && Object.values(own).some(({ bound }) => bound === "quota"))
      .map(({ name }) => `${name} has a table with a quota, and no quota`),
  ];
}
