import {
  type DatabaseFunction,
  listFunctions,
  listPolicies,
  listRelations,
  type Policy,
  type Relation,
} from "@perch/testkit/installation/database-catalogue.ts";
import type pg from "pg";

const [app, platform, recorder] = ["perch_app", "perch_platform", "perch_recorder"] as const;

const list = (names: Iterable<string>): string => [...names].map((name) => `\`${name}\``).join(", ");
const unique = (names: readonly string[]): string[] => [...new Set(names)];
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(header), `|${"---|".repeat(header.length)}`, ...rows.map(row)].join("\n");

/** Breaks a paragraph into lines of at most 100 characters. */
function wrap(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= 100) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join("\n");
}

const rightsOf = ({ rights }: Relation): string[] =>
  [app, platform].map((role) => rights[role]?.join(", ") || "nothing");

/** Relations with equal rights share a row. Those that the server may delete from come first, then those it may do most with. */
function tableOfRights(relations: readonly Relation[]): string {
  const groups = Map.groupBy(relations, (relation) => rightsOf(relation).join(" | "));
  const weight = ([relation]: readonly Relation[]) =>
    (relation?.rights[app]?.includes("delete") ? 100 : 0) +
    10 * (relation?.rights[app]?.length ?? 0) +
    (relation?.rights[platform]?.length ?? 0);
  const rows = [...groups.values()]
    .toSorted((a, b) => weight(b) - weight(a))
    .flatMap((group) => {
      const cells = group[0] ? rightsOf(group[0]) : [];
      const parents = unique(group.flatMap(({ parent }) => parent ?? []));
      const whole = group.filter(({ parent }) => parent === null);
      const hasRights = cells.some((cell) => cell !== "nothing");
      return [
        ...(whole.length > 0 ? [[list(whole.map(({ name }) => name)), ...cells]] : []),
        ...(parents.length > 0
          ? [[hasRights ? `partitions of ${list(parents)}` : "all other partitions", ...cells]]
          : []),
      ];
    });
  return table(["tables", `\`${app}\` may`, `\`${platform}\` may`], rows);
}

function tableOfFunctions(functions: readonly DatabaseFunction[], owner: string): string {
  const isPlain = ({ isSecurityDefiner, setsOrganisation }: DatabaseFunction) =>
    !isSecurityDefiner && !setsOrganisation;
  const describe = (each: DatabaseFunction) => [
    each.owner === owner ? "the owner" : `\`${each.owner}\``,
    each.isSecurityDefiner ? "its owner" : "its caller",
    each.setsOrganisation ? "yes" : "no",
  ];
  const groups = Map.groupBy(functions, (each) => `${isPlain(each)} ${describe(each).join(" ")}`);
  const rows = [...groups.values()]
    .toSorted((a, b) => Number(a.some(isPlain)) - Number(b.some(isPlain)))
    .map((group) => [
      group.some(isPlain) ? "all others" : list(group.map(({ name }) => name)),
      ...(group[0] ? describe(group[0]) : []),
    ]);
  return table(["functions", "belong to", "each runs with the rights of", "sets the organisation itself"], rows);
}

/** The tables that row-level security does not cover, in sentences. */
function exceptions(relations: readonly Relation[], policies: readonly Policy[]): string {
  const tables = relations.filter(({ parent }) => parent === null);
  const named = (kept: readonly Relation[]) => list(kept.map(({ name }) => name));
  const unforced = tables.filter(({ hasOrganisation, isForced }) => hasOrganisation && !isForced);
  const crossing = policies.filter(({ roles, using }) => roles.includes(platform) && using === "true");
  const recorderMay = (right: string) =>
    named(tables.filter(({ rights }) => rights[recorder]?.some((each) => each.startsWith(right))));
  return [
    unforced.length > 0
      ? `Row-level security is not forced in ${named(unforced)}.`
      : "Row-level security is enabled and forced on every table that has an organisation. Partitions have no policies of their own.",
    `These tables have none: ${named(tables.filter(({ hasOrganisation }) => !hasOrganisation))}.`,
    `Policies let \`${platform}\` see the rows of every organisation in ${list(unique(crossing.map((each) => each.table)))}.`,
    `\`${recorder}\` may, in rows of every organisation, read columns of ${recorderMay("select")}; insert into ${recorderMay("insert")}; update columns of ${recorderMay("update")}.`,
  ].join(" ");
}

/** docs/database-rights.md: the rights of roles on the tables and functions of a migrated database. */
export async function databaseRightsPage(client: pg.ClientBase): Promise<string> {
  const relations = await listRelations(client, [app, platform, recorder]);
  const functions = await listFunctions(client);
  const owner = relations.find(({ name }) => name === "organisations")?.owner;
  if (owner === undefined) throw new Error("The database has no tables of Perch: migrate it first.");
  const foreign = relations.filter((relation) => relation.owner !== owner);
  const callers = unique(functions.filter((each) => each.isSecurityDefiner).flatMap((each) => each.callers));
  const exceptOwned = foreign.length > 0 ? ` except ${list(foreign.map(({ name }) => name))}` : "";
  return `${[
    "# Database rights",
    wrap(
      `\`pnpm generate\` writes this page from the catalogue of a migrated database, and \`scripts/generated-files.test.ts\` compares it. [Decision 3](decisions/0003-tenancy.md) explains the roles.`,
    ),
    "## Tables",
    wrap(`The owner, which is the role that runs \`migrate\`, owns every table${exceptOwned}.`),
    tableOfRights(relations),
    "## Row-level security",
    wrap(exceptions(relations, await listPolicies(client))),
    "## Functions",
    tableOfFunctions(functions, owner),
    wrap(`Besides their owner, only ${list(callers)} may call functions that run with their owner's rights.`),
  ].join("\n\n")}\n`;
}
