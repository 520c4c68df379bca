import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { newestVersion } from "./changelog.ts";
import { incompatibleChanges, type OpenApi } from "./openapi-changes.ts";
import { readVersions } from "./version-places.ts";

/** The conditions that a commit must meet to become a release. */

/** The finding. A problem also describes its remedy. */
export type Outcome =
  | { readonly state: "ok" | "skipped"; readonly text: string }
  | { readonly state: "FAILED"; readonly text: string };

export interface Check {
  readonly title: string;
  /** Builds something or takes minutes, so `--quick` leaves it out. */
  readonly isSlow?: true;
  readonly run: (checkout: Checkout) => Promise<Outcome>;
}

export interface Checkout {
  readonly root: string;
  /** Runs a command in the root of the checkout and returns its output without the last line break; rejects if it fails. */
  readonly execute: (command: string, ...args: string[]) => Promise<string>;
}

export const openCheckout = (root: string): Checkout => ({
  root,
  execute: async (command, ...args) => {
    const { stdout } = await promisify(execFile)(command, args, { cwd: root, maxBuffer: 256 * 1024 * 1024 });
    return stdout.trim();
  },
});

const ok = (text: string): Outcome => ({ state: "ok", text });
const skipped = (text: string): Outcome => ({ state: "skipped", text });
const failed = (text: string): Outcome => ({ state: "FAILED", text });
const changelogOf = ({ root }: Checkout) => newestVersion(readFileSync(join(root, "CHANGELOG.md"), "utf8"));

/** Runs a program that reports its own problems; its last lines are the reason. */
async function runProgram({ execute }: Checkout, command: string, ...args: string[]): Promise<Outcome> {
  try {
    const lines = (await execute(command, ...args)).split("\n");
    return ok(lines.at(-1)?.slice(0, 200) ?? "");
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const reason = `${stdout}${stderr}`.trim().split("\n").slice(-5).join(" | ") || String(error);
    return failed(`${reason.slice(0, 400)}. Correct it, then run: ${[command, ...args].join(" ")}`);
  }
}

const node = (checkout: Checkout, ...args: string[]) =>
  runProgram(checkout, process.execPath, "--no-warnings", ...args);

async function inFolder(work: (folder: string) => Promise<Outcome>): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "perch-release-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function checkTree({ execute }: Checkout): Promise<Outcome> {
  const changed = await execute("git", "status", "--porcelain");
  return changed === ""
    ? ok("nothing is changed or left over")
    : failed(`${changed.split("\n").length} files are changed or new. Commit or remove them: git status`);
}

async function checkBranch({ execute }: Checkout): Promise<Outcome> {
  const branch = await execute("git", "rev-parse", "--abbrev-ref", "HEAD");
  return branch === "main" ? ok("main") : failed(`This is ${branch}. Releases are made from main: git switch main`);
}

async function checkVersions(checkout: Checkout): Promise<Outcome> {
  const { version } = changelogOf(checkout);
  const places = readVersions(checkout.root);
  const wrong = places.filter(({ versions }) => versions.length === 0 || versions.some((each) => each !== version));
  return wrong.length === 0
    ? ok(`${version} in ${places.length} places`)
    : failed(
        `CHANGELOG.md begins with ${version}, and these name another: ${wrong.map(({ file }) => file).join(", ")}`,
      );
}

async function checkChangelog(checkout: Checkout): Promise<Outcome> {
  const { version, date } = changelogOf(checkout);
  if (date === "unreleased")
    return failed(`${version} is unreleased. Give it today's date in CHANGELOG.md: ## ${version} - YYYY-MM-DD`);
  return ok(`${version} of ${date}`);
}

async function checkTag(checkout: Checkout): Promise<Outcome> {
  const tag = `v${changelogOf(checkout).version}`;
  const exists = (await checkout.execute("git", "tag", "--list", tag)) !== "";
  return exists
    ? failed(`${tag} exists already. Make the next version: node scripts/version.ts`)
    : ok(`${tag} is free`);
}

async function findLastTag({ execute }: Checkout): Promise<string | undefined> {
  const tags = (await execute("git", "tag", "--list", "v*", "--merged", "HEAD", "--sort=-v:refname")).split("\n");
  return tags.find(Boolean);
}

async function checkOpenApi(checkout: Checkout): Promise<Outcome> {
  const { root, execute } = checkout;
  const last = await findLastTag(checkout);
  if (last === undefined) return skipped("there is no earlier tag to compare with");
  const path = "packages/contract/openapi.json";
  const before = JSON.parse(await execute("git", "show", `${last}:${path}`)) as OpenApi;
  const found = incompatibleChanges(before, JSON.parse(readFileSync(join(root, path), "utf8")) as OpenApi);
  if (found.length === 0) return ok(`nothing that a client of ${last} relies on is gone`);
  const more = found.length > 5 ? ` and ${found.length - 5} more` : "";
  return failed(
    `Since ${last}: ${found.slice(0, 5).join("; ")}${more}. Bring it back, and announce its end for 12 months first.`,
  );
}

/** The image can be built again bit by bit, and comes with its list of contents. */
const checkImage = (checkout: Checkout): Promise<Outcome> =>
  inFolder(async (folder) => {
    const list = join(folder, "sbom.json");
    const built = await node(checkout, "deploy/image/build.ts", "--check-reproducible", "--sbom", list);
    if (built.state === "FAILED") return built;
    if (!existsSync(list)) return failed("The build wrote no list of contents. See deploy/image/sbom.ts.");
    const { components = [] } = JSON.parse(readFileSync(list, "utf8")) as { components?: unknown[] };
    return components.length > 50
      ? ok(`two builds have the same digest; the list of contents has ${components.length} components`)
      : failed(`The list of contents has ${components.length} components only. See deploy/image/sbom.ts.`);
  });

/**
 * Upgrades from the version that operators run now, which is the image of the last release and not this checkout under
 * another name.
 */
async function checkUpgrade(checkout: Checkout): Promise<Outcome> {
  const last = await findLastTag(checkout);
  if (last === undefined) return skipped("there is no earlier tag to upgrade from");
  const image = `localhost/perch-server:${last.slice(1)}`;
  const hasImage = await checkout.execute("podman", "image", "exists", image).then(
    () => true,
    () => false,
  );
  if (!hasImage)
    return failed(
      `podman has no ${image}. Build it: git worktree add ../perch-${last} ${last} && cd ../perch-${last} && pnpm install && node deploy/image/build.ts`,
    );
  return node(checkout, "chaos/main.ts", "--upgrade", "--from", image, "--json");
}

/** The quick checks come first. */
export const checks: readonly Check[] = [
  { title: "working tree", run: checkTree },
  { title: "branch", run: checkBranch },
  { title: "versions", run: checkVersions },
  { title: "changelog", run: checkChangelog },
  { title: "tag", run: checkTag },
  { title: "API", run: checkOpenApi },
  {
    title: "documentation site",
    isSlow: true,
    run: (checkout) => inFolder((folder) => node(checkout, "site/main.ts", "--out", folder)),
  },
  {
    title: "packages",
    isSlow: true,
    run: (checkout) => inFolder((folder) => node(checkout, "scripts/pack-packages.ts", folder)),
  },
  { title: "image", isSlow: true, run: checkImage },
  { title: "chart", isSlow: true, run: (checkout) => node(checkout, "deploy/helm/render.ts", "--check") },
  { title: "verify", isSlow: true, run: (checkout) => node(checkout, "scripts/verify.ts", "--full") },
  { title: "upgrade from the last release", isSlow: true, run: checkUpgrade },
  { title: "alerts", isSlow: true, run: (checkout) => node(checkout, "chaos/main.ts", "--alerts", "--json") },
  { title: "restore", isSlow: true, run: (checkout) => node(checkout, "chaos/main.ts", "--restore", "--json") },
];
