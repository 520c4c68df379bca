import { importsOf, sourceFiles } from "@perch/testkit/source-files.ts";
import { expect, test } from "vitest";

const edges = sourceFiles(["packages/cli/src"]).flatMap(importsOf);

test("the check sees the code it claims to check", () => {
  expect(edges.filter(({ to }) => to === "@perch/sdk").length).toBeGreaterThan(10);
});

test("the command line imports only the SDK: neither the server, which it starts as a process, nor the contract", () => {
  const known = /^(node:|packages\/cli\/|@perch\/sdk$|yaml$)/;
  const wrong = edges.filter(({ to }) => !known.test(to));
  expect(new Set(wrong.map(({ from }) => from))).toEqual(new Set(["packages/cli/src/dev/database.ts"]));
  expect(wrong.filter(({ to }) => !to.startsWith("@electric-sql/"))).toEqual([]);
});
