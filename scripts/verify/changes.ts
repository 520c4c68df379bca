import { execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { basename, dirname, join, matchesGlob } from "node:path";
import { checkoutDir } from "@perch/testkit/services/layout.ts";
import { commonInputs, type Stage } from "./stages.ts";

const git = (...args: string[]): string[] =>
  execFileSync("git", args, { cwd: checkoutDir, encoding: "utf8" }).split("\n").filter(Boolean);

export const listFiles = (): string[] => git("ls-files");

/** Paths that differ from a commit, with those that are not committed yet. */
export const listChanges = (base: string): string[] => [
  ...new Set([...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")]),
];

export const hasInput = ({ inputs }: Pick<Stage, "inputs">, path: string): boolean =>
  [...inputs, ...commonInputs].some((glob) => matchesGlob(path, glob));

/** Walks over all operations and resources, which a change in any of them may fail. */
const walks = ["tenancy", "authorization", "audit", "architecture", "resources"].map(
  (name) => `packages/server/test/guarantees/${name}.test.ts`,
);

/** Tests that stand beside a change, in its folder or under its name, and the walks if the server changed. */
export function testsBeside(changes: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of changes) {
    if (/\.test\.ts$/.test(path)) found.add(path);
    const [area = "", name = ""] = path.split("/");
    if (area !== "packages") continue;
    for (const file of globSync(`${dirname(path)}/*.test.ts`, { cwd: checkoutDir })) found.add(file);
    const stem = basename(path).replace(/\.\w+$/, "");
    for (const file of globSync(`packages/${name}/test/**/${stem}.test.ts`, { cwd: checkoutDir })) found.add(file);
    if (name === "server") for (const walk of walks) found.add(walk);
    if (name === "console") found.add("spec/console/every-page.test.ts");
  }
  return [...found].filter((file) => existsSync(join(checkoutDir, file))).toSorted();
}
