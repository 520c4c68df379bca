import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { serviceUrl } from "../../../scripts/testbed/scratch-database.ts";
import { methodNames } from "../../../scripts/typescript-sdk/method-names.ts";
import { createOrganisation } from "../../server/src/resources/organisations/create-organisation.ts";
import { usePerch } from "../../server/test/support/harness.ts";

const server = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/typescript-sdk.md"), "utf8");
// Inside of the package, so that its name leads to it.
const folder = join(import.meta.dirname, ".guide");
const program = join(folder, "program.ts");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const separator = "=== end of block ===";
const fences = [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));
const blocks = fences.filter(({ language }) => language === "ts").map(({ text }) => text);
const printed = fences.filter(({ language }) => language === "text").map(({ text }) => text.trim());

test("the program of the guide compiles, and prints what the guide says", async () => {
  expect(blocks.length).toBeGreaterThan(9);
  expect(printed).toHaveLength(blocks.length);
  mkdirSync(folder, { recursive: true });
  writeFileSync(program, blocks.map((code) => `${code}\nconsole.log("${separator}");\n`).join("\n"));
  const root = join(import.meta.dirname, "../../..");
  const options = ["--target", "es2024", "--module", "nodenext", "--strict", "--noEmit", "--types", "node"];
  const checks = [...options, "--allowImportingTsExtensions", "--skipLibCheck"];
  execFileSync(join(root, "node_modules/.bin/tsc"), ["--ignoreConfig", ...checks, program], {
    cwd: root,
    stdio: "inherit",
  });
  const { key } = await createOrganisation(server().server.core, { name: "typescript-sdk", tier: "pro" });
  const env = { ...process.env, PERCH_URL: server().url, PERCH_API_KEY: key, NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  expect(stdout.split(separator).map((text) => text.trim())).toEqual([...printed, ""]);
});

test("the guide names every method", () => {
  const rows = new Map(
    [...guide.matchAll(/^\| `(\w+)` \| ((?:`\w+` ?)+)\|$/gm)].map(([, name = "", methods = ""]) => [name, methods]),
  );
  const isMissing = (place: string): boolean => {
    const [namespace = "", method = ""] = place.split(".");
    return !rows.get(namespace)?.includes(`\`${method}\``);
  };
  expect(rows.size).toBeGreaterThan(10);
  expect(Object.values(methodNames).filter((place) => place !== "account.me" && isMissing(place))).toEqual([]);
});
