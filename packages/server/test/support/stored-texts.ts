import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { expect } from "vitest";

interface Engine {
  readonly adminUrls: readonly string[];
}

async function queryEngine(
  { adminUrls }: Engine,
  query: string,
): Promise<{ readonly rows: readonly Record<string, unknown>[] }> {
  const response = await fetch(`${adminUrls[0]}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  if (!response.ok) throw new Error(`${query}: ${await response.text()}`);
  return (await response.json()) as Awaited<ReturnType<typeof queryEngine>>;
}

/** Everything the engine stores, read with its own SQL. */
export async function readEngineTables(engine: Engine): Promise<string> {
  const tablesQuery = "select table_name from information_schema.tables where table_schema = 'public'";
  const { rows } = await queryEngine(engine, tablesQuery);
  expect(rows.map(({ table_name }) => table_name)).toContain("sys_journal");
  const tables = await Promise.all(
    rows.map(({ table_name }) => queryEngine(engine, `select * from ${String(table_name)}`)),
  );
  return JSON.stringify(tables);
}

/** Every row of every table. */
export const readDatabaseRows = (adminUrl: string): Promise<string> =>
  withClient(adminUrl, async (admin) => {
    const { rows: tables } = await admin.query<{ name: string }>(
      "select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
    );
    let texts = "";
    // Reads values, not the text of a row, which writes quotes and backslashes in its own way.
    for (const { name } of tables)
      texts += `${name}: ${JSON.stringify((await admin.query(`select * from ${name}`)).rows)}\n`;
    return texts;
  });

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** In base64 at any of the three offsets, without the characters that depend on the neighbours. */
const inBase64 = (text: string): string[] =>
  [0, 1, 2].map((n) =>
    Buffer.concat([Buffer.alloc(n), Buffer.from(text)])
      .toString("base64")
      .slice(4, -4),
  );

/** How a word may be written: plain, escaped, encoded, in hex, as a list of bytes, in base64. */
export function listForms(word: string): string[] {
  const escaped = escapeJson(word);
  const inQuery = new URLSearchParams({ "": word }).toString().slice(1);
  const texts = [word, escaped, escapeJson(escaped), encodeURIComponent(word), encodeURIComponent(escaped), inQuery];
  const base64 = texts.flatMap(inBase64);
  const bytes = texts.map((text) => Buffer.from(text));
  const forms = [
    ...[...texts, ...texts.map(encodeURIComponent)],
    ...bytes.flatMap((some) => [some.toString("hex"), some.join(",")]),
    ...[...base64, ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))],
    ...base64.map(encodeURIComponent),
  ];
  return [...new Set(forms)];
}

/** Whether the text contains the word in any of these forms. */
export const containsEncoded = (text: string, word: string): boolean =>
  listForms(word).some((form) => text.includes(form));
