import { readFileSync } from "node:fs";
import { join } from "node:path";
import { entryParts, readRunbook } from "@perch/testkit/runbook.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type AlertRule, readRules, shortenDuration, shortenExpression, shortenRules } from "./alert-rules.ts";
import { alertCases } from "./cases.ts";

const rules = readRules().groups.flatMap((group): readonly AlertRule[] => group.rules);
const names = rules.map(({ alert }) => alert).sort();
const entries = readRunbook();

interface UnitTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}
const unitTests = (
  parse(readFileSync(join(import.meta.dirname, "../../deploy/alerts/perch.test.yaml"), "utf8")) as UnitTests
).tests.flatMap(({ alert_rule_test }) => alert_rule_test);

describe("every alert rule", () => {
  test("is seen by these checks", () => {
    expect(names.length).toBeGreaterThan(20);
    expect(new Set(names).size).toBe(names.length);
  });

  test("has one entry in docs/operations/alerts.md, and every entry has its rule", () => {
    expect(entries.map(({ alert }) => alert).sort()).toEqual(names);
  });

  test.each(rules)("$alert points to its entry and shows how urgent it is", ({ alert, labels, annotations }) => {
    expect(annotations.runbook_url).toBe(`docs/operations/alerts.md#${alert.toLowerCase()}`);
    expect(annotations.summary).toMatch(/\S/);
    expect(["page", "ticket"]).toContain(labels.severity);
  });

  test("has one case that causes its fault, and every case has its rule", () => {
    expect(alertCases.flatMap(({ fires }) => Object.keys(fires)).sort()).toEqual(names);
  });

  test("has a unit test in which it fires and one in which it is silent", () => {
    const fired = unitTests.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname);
    const silent = unitTests.filter(({ exp_alerts }) => exp_alerts.length === 0).map(({ alertname }) => alertname);
    expect([...new Set(fired)].sort()).toEqual(names);
    expect([...new Set(silent)].sort()).toEqual(names);
  });
});

describe("every entry of the runbook", () => {
  test.each(entries)("$alert has all parts in their order, and a query", ({ text, query }) => {
    const positions = entryParts.map((part) => text.indexOf(part));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(query).toMatch(/\bperch_/);
  });

  test.each(alertCases.flatMap(({ fires }) => Object.entries(fires)))(
    "%s has the words that its case follows",
    (alert, words) => {
      expect(entries.find((entry) => entry.alert === alert)?.text.split("**Do:**")[1]).toContain(words);
    },
  );
});

describe("rules with shorter times", () => {
  const shortening = { factor: 120, minMs: 6000, maxMs: 30_000 };

  test("divide every time, within bounds", () => {
    const shorten = (duration: string) => shortenDuration(duration, shortening);
    expect(["5m", "20m", "1h", "1d"].map(shorten)).toEqual(["6000ms", "10000ms", "30000ms", "30000ms"]);
    expect(() => shorten("1h30m")).toThrow("1h30m is no duration");
  });

  test("keep the expression, except its ranges", () => {
    expect(shortenExpression('rate(a{b="[c]"}[20m]) > 1 / 60', shortening)).toBe('rate(a{b="[c]"}[10000ms]) > 1 / 60');
    expect(() => shortenExpression("rate(a[5m] offset 1h)", shortening)).toThrow("offsets");
    expect(() => shortenExpression("max_over_time(a[1h:1m])", shortening)).toThrow("subqueries");
  });

  test("are all the rules", () => {
    const [before, after] = [readRules(), shortenRules(readRules(), shortening)].map(({ groups }) =>
      groups.flatMap((group) => group.rules.map(({ alert, labels, annotations }) => ({ alert, labels, annotations }))),
    );
    expect(after).toEqual(before);
    expect(JSON.stringify(shortenRules(readRules(), shortening))).not.toMatch(/\[\d+[mhd]\]|"for":"\d+[mhd]"/);
  });
});
