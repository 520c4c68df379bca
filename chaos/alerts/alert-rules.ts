import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

/** How much faster time passes for the rules. */
export interface Shortening {
  readonly factor: number;
  /** A rate needs some scrapes in its range. */
  readonly minMs: number;
  readonly maxMs: number;
}

const rulesFile = join(import.meta.dirname, "../../deploy/alerts/perch.yaml");

export const readRules = (): RuleFile => parse(readFileSync(rulesFile, "utf8")) as RuleFile;

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function shortenDuration(duration: string, { factor, minMs, maxMs }: Shortening): string {
  const [, count, unit = ""] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? Number.NaN);
  if (Number.isNaN(ms)) throw new Error(`${duration} is no duration of one unit, such as 5m`);
  return `${Math.round(Math.min(Math.max(ms / factor, minMs), maxMs))}ms`;
}

/** The same expression with shorter ranges. Thresholds stay as they are. */
export function shortenExpression(expression: string, shortening: Shortening): string {
  if (/\boffset\b|\[[^\]]*:/.test(expression))
    throw new Error(`Neither offsets nor subqueries are known: ${expression}`);
  return expression.replaceAll(/\[(\d[^\]]*)\]/g, (_, range: string) => `[${shortenDuration(range, shortening)}]`);
}

const shortenRule = (rule: AlertRule, shortening: Shortening): AlertRule => ({
  ...rule,
  expr: shortenExpression(rule.expr, shortening),
  ...(rule.for === undefined ? {} : { for: shortenDuration(rule.for, shortening) }),
});

export const shortenRules = ({ groups }: RuleFile, shortening: Shortening): RuleFile => ({
  groups: groups.map((group) => ({ ...group, rules: group.rules.map((rule) => shortenRule(rule, shortening)) })),
});
