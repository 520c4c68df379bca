import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { insertSection, newestVersion, versionSection, whyNoEntry } from "./release/changelog.ts";
import { writeVersion } from "./release/version-places.ts";

/**
 * `node scripts/version.ts` applies the change files: it sets the next version everywhere, and writes its section of
 * CHANGELOG.md. Changesets makes the versions. Its own changelogs are off, because there would be one for each package
 * of npm, all with the same version, and none for the Python client or the image.
 */

const root = join(import.meta.dirname, "..");
const changelogFile = join(root, "CHANGELOG.md");

interface Plan {
  readonly changesets: readonly { readonly id: string; readonly summary: string }[];
  readonly releases: readonly { readonly name: string; readonly newVersion: string }[];
}

const changeset = (...args: string[]) =>
  execFileSync(join(root, "node_modules/.bin/changeset"), args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });

function readPlan(): Plan {
  const folder = mkdtempSync(join(tmpdir(), "perch-version-"));
  try {
    const file = join(folder, "plan.json");
    changeset("status", `--output=${relative(root, file)}`);
    return JSON.parse(readFileSync(file, "utf8")) as Plan;
  } catch {
    // The command has printed the reason: packages have changed without a file, or there is no branch to compare with.
    return { changesets: [], releases: [] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function main(): string {
  const changelog = readFileSync(changelogFile, "utf8");
  const newest = newestVersion(changelog);
  if (newest.date === "unreleased")
    return `Version ${newest.version} is not released yet: give it a date in CHANGELOG.md, and release it first.`;
  const { changesets, releases } = readPlan();
  const next = releases.find(({ name }) => name === "@perch/server")?.newVersion;
  if (next === undefined) return "There is no change file in .changeset. Add one: pnpm changeset";
  const summaries = changesets.map(({ summary }) => summary);
  const problems = changesets.flatMap(({ id, summary }) => {
    const problem = whyNoEntry(summary);
    return problem ? [`.changeset/${id}.md: ${problem}`] : [];
  });
  if (problems.length > 0) return problems.join("\n");
  changeset("version");
  writeVersion(root, newest.version, next);
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(changelogFile, insertSection(changelog, versionSection(next, date, summaries)));
  console.log(
    `Version ${next}, with ${summaries.length} entries in CHANGELOG.md. Read them, run \`pnpm generate\`, \`node deploy/helm/render.ts\`, \`git grep ${newest.version}\` and \`pnpm verify\`, and commit.`,
  );
  return "";
}

const problem = main();
if (problem) {
  console.error(problem);
  process.exitCode = 1;
}
