import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { knownOperations } from "../packages/console/src/routes/audit/list/known-operations.ts";
import { operationKeys, operations } from "../packages/contract/src/index.ts";
import { isAudited } from "../packages/server/src/resources/audit/audit-entry.ts";

const server = join(import.meta.dirname, "../packages/server/src");

/** Operations that the server names where it writes an entry without a caller: of commands, and of what Perch does by itself. */
const named = globSync("**/*.ts", { cwd: server })
  .map((path) => readFileSync(join(server, path), "utf8"))
  .filter((source) => source.includes("insertEntryWithoutCaller("))
  .flatMap((source) => [...source.matchAll(/\boperation: ((?:"[\w-]+"(?: \| )?)+)/g)])
  .flatMap(([, literals = ""]) => literals.split(" | ").map((literal) => JSON.parse(literal) as string));

test("the console suggests exactly the operations that an entry of the audit log can have", () => {
  expect(named).toEqual(expect.arrayContaining(["set-tier", "rollBackCanary", "recheckPerson"]));
  const audited = operationKeys.filter(isAudited).map((key) => operations[key].id);
  expect(knownOperations.toSorted()).toEqual([...new Set([...audited, ...named])].toSorted());
});
