import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OwnServer, startOwnServer } from "../walk/own-server.ts";
import { type Finding, row, sections, summary, walk } from "../walk/walk.ts";
import { createWorld } from "../walk/world.ts";
import { type BendingProxy, startBendingProxy } from "./bending-proxy.ts";

const record = join(import.meta.dirname, "../../docs/decisions/0054-beyond-the-specification.md");
const statements = sections.flatMap((section) => section.statements);

let own: OwnServer;
let proxy: BendingProxy;
beforeAll(async () => {
  own = await startOwnServer();
  proxy = await startBendingProxy(own.url);
}, 240_000);
afterAll(async () => {
  await proxy?.close();
  await own?.stop();
});

const idsOf = (findings: readonly Finding[], outcome: Finding["outcome"]): string[] =>
  findings.filter((finding) => finding.outcome === outcome).map(({ statement }) => statement.id);

describe("the specification walk", () => {
  test("at least 210 statements, each with its own id, and every departure is in its decision record", () => {
    expect(statements.length).toBeGreaterThanOrEqual(210);
    expect(new Set(statements.map(({ id }) => id)).size).toBe(statements.length);
    const departures = statements.filter(({ departure }) => departure);
    const recorded = [...readFileSync(record, "utf8").matchAll(/^\| `([\w.-]+)` \|/gm)].map(([, id]) => id);
    expect(departures.map(({ id }) => id).sort()).toEqual(recorded.sort());
  });

  test("every statement holds on a live server, to the letter or as a decision says, and at least 205 to the letter", async () => {
    const findings = await walk(createWorld({ url: own.url, key: own.keys.enterprise, own }), true);
    console.log(summary(findings));
    expect(findings.filter(({ outcome }) => outcome === "differs").map(row)).toEqual([]);
    expect(idsOf(findings, "skipped")).toEqual([]);
    expect(idsOf(findings, "exact").length).toBeGreaterThanOrEqual(205);
  }, 300_000);

  test("a server whose answers differ from the specification in small things fails the walk", async () => {
    const found = async (id: string): Promise<string> => {
      // Another world, because a world does not repeat requests that it has already made.
      const world = createWorld({ url: proxy.url, key: own.keys.pro });
      const statement = statements.find((one) => one.id === id);
      return (
        (await statement?.check(world).then(
          () => "holds",
          () => "differs",
        )) ?? "unknown"
      );
    };
    for (const { breaks, bend } of proxy.bends) {
      expect(`${breaks} ${await found(breaks)}`, "with a truthful proxy").toBe(`${breaks} holds`);
      proxy.use(bend);
      expect(`${breaks} ${await found(breaks)}`, "with the answer bent").toBe(`${breaks} differs`);
      proxy.use(undefined);
    }
  }, 240_000);
});
