import { execFileSync } from "node:child_process";
import { checkoutDir } from "@perch/testkit/services/layout.ts";

const maxLength = 72;

/** Why a title is not `area: verb object` within 72 characters, or undefined. */
export function titleProblem(title: string): string | undefined {
  if (title.length > maxLength) return `${title.length} characters, at most ${maxLength}`;
  if (!/^[a-z][a-z0-9-]*: [a-z]+ \S/.test(title)) return "not `area: verb object`, in lower case";
  return undefined;
}

/** A line for each commit after `base` whose title is not as CONTRIBUTING.md describes. */
export const findBadTitles = (base: string): string[] =>
  execFileSync("git", ["log", "--no-merges", "--format=%h %s", `${base}..HEAD`], { cwd: checkoutDir, encoding: "utf8" })
    .split("\n")
    .filter(Boolean)
    .flatMap((line) => {
      const problem = titleProblem(line.slice(line.indexOf(" ") + 1));
      return problem === undefined ? [] : [`${line}: ${problem}`];
    });
