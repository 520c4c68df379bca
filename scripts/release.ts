import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { newestVersion } from "./release/changelog.ts";
import { type Checkout, checks, type Outcome, openCheckout } from "./release/checks.ts";

/**
 * The checklist of a release. It checks everything that a program can check, and prints the steps that only a person
 * may do.
 */

const usage = `node scripts/release.ts [--quick] [--tag]

  --quick   only what takes a second or two: no builds, no tests
  --tag     make the tag if everything has passed; not with --quick

The exit code is 0 if nothing failed. What it says of the rest is for you to do.`;

/** While it runs, it prints every ten seconds which checks are still under way. */
async function runWithProgress(title: string, work: Promise<Outcome>): Promise<Outcome> {
  const startedAt = performance.now();
  const timer = setInterval(
    () => console.log(`        ${title}: ${Math.round((performance.now() - startedAt) / 1000)} s ...`),
    10_000,
  );
  try {
    return await work;
  } catch (error) {
    return { state: "FAILED", text: error instanceof Error ? error.message : String(error) };
  } finally {
    clearInterval(timer);
  }
}

async function runChecks(checkout: Checkout, isQuick: boolean): Promise<number> {
  let failures = 0;
  for (const { title, isSlow, run } of checks) {
    const isLeftOut = isQuick && isSlow;
    if (isSlow && !isLeftOut) console.log(`        ${title} ...`);
    const { state, text } = isLeftOut
      ? { state: "skipped", text: "takes minutes, and --quick is set" }
      : await runWithProgress(title, run(checkout));
    console.log(`${state.padEnd(7)} ${title}: ${text}`);
    if (state === "FAILED") failures += 1;
  }
  return failures;
}

const remaining = (version: string, isTagged: boolean) => `
What is left for you, in this order:
${isTagged ? "" : `  node scripts/release.ts --tag                      # checks everything again, and makes the tag v${version}\n`}  git push origin main v${version}
  node scripts/pack-packages.ts packed && npm publish packed/*.tgz --access public
  python3 -m twine upload packed/*.whl
  node deploy/image/build.ts && podman push localhost/perch-server:${version} REGISTRY/perch-server:${version}
  node deploy/image/build.ts --embedder && podman push localhost/perch-server:${version}-embedder REGISTRY/perch-server:${version}-embedder
  helm package deploy/helm/perch --destination packed && helm push packed/perch-${version}.tgz oci://REGISTRY/charts
  node site/main.ts                                  # publish site/dist
Then announce it with its section of CHANGELOG.md, and try docs/operations/upgrade.md on an installation of yours.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      tag: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return console.log(usage);
  if (values.quick && values.tag) throw new Error("A tag needs all checks. Leave --quick out.");
  const checkout = openCheckout(join(import.meta.dirname, ".."));
  const failures = await runChecks(checkout, values.quick);
  const { version } = newestVersion(readFileSync(join(checkout.root, "CHANGELOG.md"), "utf8"));
  if (failures > 0) {
    console.log(`${failures} of ${checks.length} checks failed.`);
    process.exitCode = 1;
    return;
  }
  if (values.tag) await checkout.execute("git", "tag", "--annotate", `v${version}`, "--message", `Perch ${version}`);
  console.log(remaining(version, values.tag));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});
