import { authentication } from "./sections/authentication.ts";
import { endpoints } from "./sections/endpoints.ts";
import { errors } from "./sections/errors.ts";
import { events } from "./sections/events.ts";
import { limits } from "./sections/limits.ts";
import { resources } from "./sections/resources.ts";
import { service } from "./sections/service.ts";
import { states } from "./sections/states.ts";
import { versioning } from "./sections/versioning.ts";
import type { Section, Statement } from "./statement.ts";
import type { World } from "./world.ts";

/** The specification's sections, in its order. */
export const sections: readonly Section[] = [
  service,
  resources,
  states,
  endpoints,
  authentication,
  events,
  errors,
  limits,
  versioning,
];

export interface Finding {
  readonly section: string;
  readonly statement: Statement;
  /** `decided`: holds as a decision changed it. `skipped`: needs the walk's own server. */
  readonly outcome: "exact" | "decided" | "differs" | "skipped";
  /** How it differs. */
  readonly note?: string;
}

async function examine(world: World, section: string, statement: Statement, isOwn: boolean): Promise<Finding> {
  if (statement.needsOwnServer && !isOwn) return { section, statement, outcome: "skipped" };
  try {
    await statement.check(world);
  } catch (error) {
    return { section, statement, outcome: "differs", note: error instanceof Error ? error.message : String(error) };
  }
  const { departure } = statement;
  if (!departure) return { section, statement, outcome: "exact" };
  return { section, statement, outcome: "decided", note: `${departure.differs} Decision ${departure.decision}.` };
}

/** Checks every statement in turn: later ones use objects of earlier ones, and lists must not change meanwhile. */
export async function walk(
  world: World,
  isOwn: boolean,
  onFinding: (finding: Finding) => void = () => undefined,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { title, statements } of sections) {
    for (const statement of statements) {
      const finding = await examine(world, title, statement, isOwn);
      findings.push(finding);
      onFinding(finding);
    }
  }
  return findings;
}

const countOf = (findings: readonly Finding[], outcome: Finding["outcome"]): number =>
  findings.filter((finding) => finding.outcome === outcome).length;

export function summary(findings: readonly Finding[]): string {
  const [exact, decided, differ] = (["exact", "decided", "differs"] as const).map((one) => countOf(findings, one));
  const skipped = countOf(findings, "skipped");
  const tail = skipped > 0 ? `, ${skipped} skipped (they need the walk's own server)` : "";
  return `${findings.length} statements, ${exact} exact, ${decided} decided, ${differ} differ${tail}`;
}

/** A row of the table: the outcome, the statement, and how it differs. */
export function row({ section, statement, outcome, note }: Finding): string {
  const line = `${outcome.padEnd(8)} ${section.padEnd(27)} ${statement.id.padEnd(28)} ${statement.says}`;
  return note ? `${line}\n${" ".repeat(9)}${note}` : line;
}
