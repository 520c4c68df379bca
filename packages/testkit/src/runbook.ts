import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The runbook's entry about one alert. */
export interface RunbookEntry {
  readonly alert: string;
  /** On one line, so that a sentence that is wrapped in the page can be found. */
  readonly text: string;
  /** The query under "Confirm". */
  readonly query: string;
  /** Statements that the operator should run. */
  readonly sql: readonly string[];
}

const page = join(import.meta.dirname, "../../../docs/operations/alerts.md");

/** The parts that every entry has, in this order. */
export const entryParts = ["**Users:**", "**Confirm:**", "**Do:**"];

const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\``, "gm"))].map(([, code = ""]) => code.trim());

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

/** Every heading of the page that is the name of an alert begins an entry. */
export const readRunbook = (): RunbookEntry[] =>
  readFileSync(page, "utf8")
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [alert = ""] = section.split("\n");
      if (!/^Perch\w+$/.test(alert)) return [];
      const [query = ""] = blocksOf(section, "promql");
      return [{ alert, text: inOneLine(section), query: inOneLine(query), sql: blocksOf(section, "sql") }];
    });
