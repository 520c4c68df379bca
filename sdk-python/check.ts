import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { requestCases } from "../packages/sdk/test/request-cases.ts";
import { bin, buildWheel, folder, prepareTools, succeeds } from "./tools.ts";

/** All checks of the Python client. The last line counts them, and the rest describes failures. Needs the services. */

interface Tally {
  readonly passed: number;
  readonly failed: number;
}

const clean = join(folder, ".venv/clean");

/** A call of Perch, as arguments in Python. */
function signedRequest(): string {
  const found = requestCases().find(({ title }) => title === "without a body");
  if (!found) throw new Error("request-cases.ts has no request without a body");
  const { request, origin, keys, now } = found;
  return JSON.stringify({ ...request, origin, keys, now });
}

const smokeTest = `
import importlib.metadata, importlib.resources, pathlib, re, sys, perch_sdk
# From the wheel alone: nothing of the checkout, neither its source nor its tests.
site = pathlib.Path(sys.prefix).resolve()
assert pathlib.Path(perch_sdk.__file__).resolve().is_relative_to(site), perch_sdk.__file__
assert not [path for path in sys.path if path and not pathlib.Path(path).resolve().is_relative_to(site) and "perch" in path]
files = [str(file) for file in importlib.metadata.files("perch-sdk")]
strange = [file for file in files if not re.match(r"perch_sdk/(?!tests)|perch_sdk-[^/]+\\.dist-info/", file)]
assert not strange, strange
assert any(file.endswith("licenses/LICENSE") for file in files), files
assert "pip install perch-sdk" in importlib.metadata.metadata("perch-sdk").get_payload()
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

/** The wheel as a user gets it: built, installed into an empty environment, imported. */
async function wheel(): Promise<boolean> {
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  const python = join(clean, "bin/python");
  // Named by its file, because a package of this name may exist elsewhere.
  const file = await buildWheel(dist);
  if (file === undefined) return false;
  return (
    (await succeeds("a clean venv", join(bin, "python"), ["-m", "venv", "--clear", "--without-pip", clean])) &&
    (await succeeds("install the wheel", join(bin, "pip"), ["--python", python, "install", "-q", file])) &&
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
async function runTests(): Promise<Tally> {
  const report = join(folder, ".venv/tests.xml");
  rmSync(report, { force: true });
  const succeeded = await succeeds("pytest", join(bin, "pytest"), [`--junitxml=${report}`]);
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const number = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1] ?? 0);
  const failed = number("failures") + number("errors");
  const passed = number("tests") - failed - number("skipped");
  return { passed, failed: failed === 0 && (!succeeded || passed <= 0) ? 1 : failed };
}

export async function checkPythonSdk(): Promise<Tally> {
  if (!(await prepareTools())) return { passed: 0, failed: 1 };
  // The tests mostly wait for processes and time limits, so the other checks fit in between.
  const others = (async () => {
    const results: boolean[] = [];
    for await (const succeeded of staticChecks()) results.push(succeeded);
    return results;
  })();
  const [results, tally] = await Promise.all([others, runTests()]);
  const passed = results.filter(Boolean).length;
  return { passed: tally.passed + passed, failed: tally.failed + results.length - passed };
}

if (import.meta.main) {
  const { passed, failed } = await checkPythonSdk();
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
