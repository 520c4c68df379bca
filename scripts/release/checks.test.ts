import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newestVersion } from "./changelog.ts";
import { checks, openCheckout } from "./checks.ts";
import { readVersions, upgradePages, versionPlaces, writeVersion } from "./version-places.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "perch-release-test-"));
const { version } = newestVersion(readFileSync(join(root, "CHANGELOG.md"), "utf8"));
const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: "pipe" });
const path = (file: string) => join(folder, file);
const edit = (file: string, change: (text: string) => string) =>
  writeFileSync(path(file), change(readFileSync(path(file), "utf8")));

/** A repository with the files that the quick checks read, as they are here, in a commit on main with a date in the changelog. */
beforeAll(() => {
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", folder]);
  const files = new Set(["CHANGELOG.md", "scripts", ...versionPlaces.map(({ file }) => file), ...upgradePages]);
  for (const file of files) cpSync(join(root, file), path(file), { recursive: true });
  symlinkSync(join(root, "node_modules"), path("node_modules"));
  writeFileSync(path(".gitignore"), "node_modules\n");
  edit("CHANGELOG.md", (text) => text.replace(/^(## \S+ - )\S+$/m, "$12026-11-17"));
  git("config", "user.email", "release@perch.example");
  git("config", "user.name", "Release");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Begin");
});
afterAll(() => rmSync(folder, { recursive: true }));

async function outcomeOf(title: string): Promise<string> {
  const check = checks.find((each) => each.title === title);
  if (!check) throw new Error(`There is no check ${title}`);
  const { state, text } = await check.run(openCheckout(folder));
  return `${state} ${text}`;
}

describe("the checklist of a release", () => {
  test("passes in its quick form for a clean commit, and prints the steps for a person", () => {
    const { status, stdout } = spawnSync(process.execPath, ["--no-warnings", path("scripts/release.ts"), "--quick"], {
      cwd: dirname(folder),
      encoding: "utf8",
    });
    expect(stdout).toContain("ok      working tree: nothing is changed or left over");
    expect(stdout).toContain(`ok      versions: ${version} in `);
    expect(stdout).toContain("skipped image: takes minutes");
    expect(stdout).toContain(`git push origin main v${version}`);
    expect(status).toBe(0);
    expect(git("tag", "--list")).toBe("");
  });

  test("makes no tag in its quick form", () => {
    const { status, stderr } = spawnSync(process.execPath, [path("scripts/release.ts"), "--quick", "--tag"], {
      encoding: "utf8",
    });
    expect(stderr).toContain("A tag needs all checks");
    expect(status).toBe(2);
  });

  test("refuses a changed file, another branch, a version that differs and a changelog without a date", async () => {
    edit("sdk-python/pyproject.toml", (text) => text.replace(version, "9.9.9"));
    expect(await outcomeOf("versions")).toMatch(/^FAILED .*: sdk-python\/pyproject\.toml$/);
    expect(await outcomeOf("working tree")).toMatch(/^FAILED 1 files are changed/);
    git("checkout", "--quiet", "--", ".");
    git("switch", "--quiet", "--create", "side");
    expect(await outcomeOf("branch")).toMatch(/^FAILED This is side/);
    git("switch", "--quiet", "main");
    edit("CHANGELOG.md", (text) => text.replace(/^(## \S+ - )\S+$/m, "$1unreleased"));
    expect(await outcomeOf("changelog")).toMatch(/^FAILED .* is unreleased/);
    git("checkout", "--quiet", "--", ".");
  });

  test("finds the next version in every place after it was written, and refuses a page that stayed behind", async () => {
    writeVersion(folder, version, "9.8.7");
    expect(readVersions(folder).filter(({ versions }) => versions.some((each) => each !== "9.8.7"))).toEqual([]);
    expect(readVersions(folder).every(({ versions }) => versions.length > 0)).toBe(true);
    const page = readFileSync(path("docs/operations/upgrade.md"), "utf8");
    expect(page).toContain("perch-work@9.8.7");
    expect(page).toContain("perch-migrate@9.9.0");
    expect(page).toContain("`before 0.2.0`");
    expect(readFileSync(path("deploy/helm/perch/README.md"), "utf8")).toContain("perch-worker-9-8-7");
    git("checkout", "--quiet", "--", ".");
    edit("docs/operations/upgrade.md", (text) => text.replaceAll(version, "0.0.1"));
    expect(await outcomeOf("versions")).toMatch(/^FAILED .*: docs\/operations\/upgrade\.md$/);
    git("checkout", "--quiet", "--", ".");
  });

  test("upgrades from the image of the last tag, and shows how to get it", async () => {
    expect(await outcomeOf("upgrade from the last release")).toMatch(/^skipped there is no earlier tag/);
    git("tag", "v0.0.1");
    expect(await outcomeOf("upgrade from the last release")).toMatch(
      /^FAILED podman has no localhost\/perch-server:0\.0\.1\. Build it: /,
    );
    git("tag", "--delete", "v0.0.1");
  });

  test("refuses an API that breaks clients of the last tag, and a tag that exists", async () => {
    expect(await outcomeOf("API")).toMatch(/^skipped/);
    git("tag", `v${version}`);
    expect(await outcomeOf("API")).toMatch(/^ok nothing that a client of v/);
    expect(await outcomeOf("tag")).toMatch(/^FAILED .* exists already/);
    edit("packages/contract/openapi.json", (text) => text.replace('"/v1/models"', '"/v1/renamed-models"'));
    expect(await outcomeOf("API")).toMatch(/^FAILED Since v.*GET \/v1\/models is gone/);
    git("checkout", "--quiet", "--", ".");
  });
});
