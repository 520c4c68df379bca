import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** All checks of the Python client. The last line counts them; the rest says what failed. Needs the services. */

interface Tally {
  readonly passed: number;
  readonly failed: number;
}

const folder = import.meta.dirname;
const bin = join(folder, ".venv/dev/bin");
const clean = join(folder, ".venv/clean");
const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  PERCH_NODE: process.execPath,
  PYTHONDONTWRITEBYTECODE: "1",
};

/** Runs one command, prints what it said when it has ended, so that two at once can be read. */
async function succeeds(title: string, command: string, args: readonly string[]): Promise<boolean> {
  const startedAt = performance.now();
  let output = "";
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn(command, args, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text));
    child.on("error", (error) => {
      output += error.message;
      resolve(null);
    });
    child.on("close", resolve);
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${output}== ${title}: ${code === 0 ? "ok" : "FAILED"} in ${seconds} s`);
  return code === 0;
}

/** The tools in their pinned versions, made anew when these change. pip knows from the machine's settings where to get them. */
async function prepare(): Promise<boolean> {
  const wanted = createHash("sha256")
    .update(readFileSync(join(folder, "requirements-dev.txt")))
    .digest("hex");
  const stamp = join(folder, ".venv/dev/made-from");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true;
  const made =
    (await succeeds("venv", process.env.PERCH_PYTHON ?? "python3", ["-m", "venv", "--clear", ".venv/dev"])) &&
    (await succeeds("pip install", join(bin, "pip"), ["install", "-q", "-r", "requirements-dev.txt"]));
  if (made) writeFileSync(stamp, wanted);
  return made;
}

interface RequestCase {
  readonly title: string;
  readonly request: object;
  readonly origin: string;
  readonly keys: readonly object[];
  readonly now: number;
}

/** A call of Perch, as arguments in Python. */
function signedRequest(): string {
  const file = join(folder, "../spec/message-signatures/verify-request.json");
  const { cases } = JSON.parse(readFileSync(file, "utf8")) as { readonly cases: readonly RequestCase[] };
  const found = cases.find(({ title }) => title === "without a body");
  if (!found) throw new Error("verify-request.json has no request without a body");
  const { request, origin, keys, now } = found;
  return JSON.stringify({ ...request, origin, keys, now });
}

const smokeTest = `
import importlib.metadata, importlib.resources, re, perch_sdk
assert importlib.resources.files(perch_sdk).joinpath("py.typed").is_file()
assert importlib.metadata.version("perch-sdk") == perch_sdk.__version__
needed = [re.match(r"[\\w-]+", one)[0] for one in importlib.metadata.requires("perch-sdk") if "extra ==" not in one]
assert needed == ["httpx", "typing-extensions"], needed
assert perch_sdk.Perch("key", base_url="http://127.0.0.1").agents and perch_sdk.AsyncPerch("key", base_url="http://127.0.0.1").keys
# Without the extra, it says what to install.
try:
    perch_sdk.verify_request(**${signedRequest()}, replay_store=perch_sdk.MemoryReplayStore())
    raise AssertionError("cryptography is installed here")
except ImportError as error:
    assert "perch-sdk[verify]" in str(error), error
print("imported", perch_sdk.__file__)
`;

/** The wheel as a user gets it: built, installed where nothing else is, imported. */
async function wheel(): Promise<boolean> {
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  const pip = join(bin, "pip");
  const python = join(clean, "bin/python");
  const build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "dist", "."];
  if (!(await succeeds("build the wheel", pip, build))) return false;
  // By its file: a package of this name elsewhere is not what is meant.
  const [file = ""] = readdirSync(join(folder, "dist"));
  const install = ["--python", python, "install", "-q", join("dist", file)];
  return (
    (await succeeds("a clean venv", join(bin, "python"), ["-m", "venv", "--clear", "--without-pip", clean])) &&
    (await succeeds("install the wheel", pip, install)) &&
    (await succeeds("import it", python, ["-I", "-c", smokeTest]))
  );
}

async function* staticChecks(): AsyncGenerator<boolean> {
  yield await succeeds("ruff check", join(bin, "ruff"), ["check", "-q"]);
  yield await succeeds("ruff format", join(bin, "ruff"), ["format", "-q", "--check"]);
  yield await succeeds("mypy --strict", join(bin, "mypy"), []);
  yield await wheel();
}

/** A run that ends badly without a failed test must not pass for success. */
async function runTests(title: string): Promise<Tally> {
  const report = join(folder, ".venv/tests.xml");
  rmSync(report, { force: true });
  const succeeded = await succeeds(title, join(bin, "pytest"), [`--junitxml=${report}`]);
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const number = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1] ?? 0);
  const failed = number("failures") + number("errors");
  const passed = number("tests") - failed - number("skipped");
  return { passed, failed: failed === 0 && (!succeeded || passed <= 0) ? 1 : failed };
}

/** A machine that stands still for seconds fails what waits for a time: then the tests run once more. */
async function tests(): Promise<Tally> {
  const first = await runTests("pytest");
  return first.failed === 0 ? first : runTests("pytest, the second time");
}

export async function checkPythonSdk(): Promise<Tally> {
  if (!(await prepare())) return { passed: 0, failed: 1 };
  // The tests mostly wait for processes and time limits: the other checks fit in between.
  const others = (async () => {
    const results: boolean[] = [];
    for await (const succeeded of staticChecks()) results.push(succeeded);
    return results;
  })();
  const [results, tally] = await Promise.all([others, tests()]);
  const passed = results.filter(Boolean).length;
  return { passed: tally.passed + passed, failed: tally.failed + results.length - passed };
}

if (import.meta.main) {
  const { passed, failed } = await checkPythonSdk();
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
