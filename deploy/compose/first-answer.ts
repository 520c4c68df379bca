import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import server from "../../packages/server/package.json" with { type: "json" };
import { type ContainerEngine, findContainerEngine, hasImage, runsContainers } from "./container-engine.ts";

/**
 * Measures the way from an empty directory to the first answer, only with containers, as README.md beside this file
 * describes it. Prints the seconds of each phase, fails above the limit, and removes everything that it made.
 */

const usage = `node deploy/compose/first-answer.ts [--cell]

  --cell   with three engine nodes, two API nodes, two workers and a balancer

Images are taken from SERVER_IMAGE, POSTGRES_IMAGE, VALKEY_IMAGE, RESTATE_IMAGE and
HAPROXY_IMAGE, else from those that deploy/image builds, else from the compose file.`;

const limitSeconds = 120;
/** Nothing may hang: a step that takes longer is ended, and everything is removed. */
const phaseLimitMs = 180_000;
const message = "Hello from an empty directory";

/** The images that deploy/image builds into the local storage, by the variable of the compose file. */
const builtImages: Readonly<Record<string, string>> = {
  SERVER_IMAGE: `localhost/perch-server:${server.version}`,
  POSTGRES_IMAGE: "localhost/perch-test-postgres:latest",
  VALKEY_IMAGE: "localhost/perch-test-valkey:latest",
  RESTATE_IMAGE: "localhost/perch-test-restate:latest",
  HAPROXY_IMAGE: "localhost/perch-test-haproxy:latest",
};

async function chooseImages(engine: ContainerEngine): Promise<Record<string, string>> {
  const chosen: Record<string, string> = {};
  for (const [variable, built] of Object.entries(builtImages)) {
    const given = process.env[variable];
    if (given) chosen[variable] = given;
    else if (await hasImage(engine, built)) chosen[variable] = built;
  }
  return chosen;
}

class Problem extends Error {}

const children = new Set<ChildProcess>();
let isInterrupted = false;

interface Installation {
  readonly engine: ContainerEngine;
  readonly folder: string;
  readonly files: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly url: string;
  readonly image: string;
}

/** Runs a command in the folder and returns its standard output; an error has all that it printed. */
function run({ folder, env }: Installation, [command, ...args]: readonly [string, ...string[]]): Promise<string> {
  if (isInterrupted) return Promise.reject(new Problem("interrupted"));
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: folder, env, timeout: phaseLimitMs, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    const output = { stdout: "", all: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      output.stdout += chunk.toString("utf8");
      output.all += chunk.toString("utf8");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output.all += chunk.toString("utf8");
    });
    child.on("error", reject);
    child.on("close", (code) => {
      children.delete(child);
      if (code === 0) resolve(output.stdout);
      else reject(new Problem(`${command} ${args.join(" ")} ended with ${code}\n${output.all.trim()}`));
    });
  });
}

const composeCommand = ({ engine, files }: Installation, ...args: string[]): [string, ...string[]] => [
  ...engine.compose,
  ...files.flatMap((file) => ["-f", file]),
  ...args,
];

async function waitUntilReady({ url }: Installation): Promise<void> {
  const deadline = performance.now() + phaseLimitMs;
  while (performance.now() < deadline) {
    if (isInterrupted) throw new Problem("interrupted");
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Problem(`${url}/readyz does not answer with 200 after ${phaseLimitMs / 1000} s`);
}

const maxAttempts = 5;

/** As clients should, it tries again after 503: podman's name server may not answer while a container joins or leaves. */
async function call(url: string, key: string, body: unknown): Promise<unknown> {
  const idempotencyKey = randomUUID();
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": idempotencyKey,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (response.ok) return (JSON.parse(text) as { data: unknown }).data;
    const failure = `POST ${url} was answered with ${response.status}: ${text}`;
    if (response.status !== 503 || attempt === maxAttempts) throw new Problem(failure);
    console.log(`  ${failure.slice(0, 150)}; trying again`);
    await sleep(1000);
  }
}

async function createSecrets(installation: Installation): Promise<void> {
  const { engine, folder, image } = installation;
  mkdirSync(join(folder, "secrets"), { mode: 0o700 });
  const isolation = ["--rm", "--network", "none", "--user", engine.user, "--volume", `${folder}/secrets:/secrets`];
  await run(installation, [engine.name, "run", ...isolation, image, "create-secrets", "--dir", "/secrets"]);
}

async function createOrganisation(installation: Installation): Promise<string> {
  const command = ["perch-server", "create-organisation", "--name", "Acme", "--tier", "pro"];
  const printed = await run(
    installation,
    composeCommand(installation, "--profile", "command", "run", "--rm", "-T", ...command),
  );
  const key = printed.trim().split("\n").at(-1)?.trim() ?? "";
  if (!key.startsWith("perch_")) throw new Problem(`create-organisation printed no key: ${printed}`);
  return key;
}

async function invoke({ url }: Installation, key: string): Promise<void> {
  await call(`${url}/v1/agents`, key, { name: "echo", model: "perch/echo" });
  const { response } = (await call(`${url}/v1/agents/echo/invoke`, key, { message })) as { response: string };
  if (response !== message) throw new Problem(`The answer is ${JSON.stringify(response)}.`);
  console.log(`  the agent answered: ${response}`);
}

/** Prints a line at the start and one with the seconds at the end. */
async function phase<T>(title: string, work: () => Promise<T>): Promise<T> {
  console.log(`${title} ...`);
  const startedAt = performance.now();
  const result = await work();
  console.log(`${title}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}

async function reachFirstAnswer(installation: Installation): Promise<number> {
  const startedAt = performance.now();
  await phase("create the secrets", () => createSecrets(installation));
  await phase("start the containers", () => run(installation, composeCommand(installation, "up", "-d")));
  await phase("wait until the API is ready", () => waitUntilReady(installation));
  const key = await phase("create an organisation", () => createOrganisation(installation));
  await phase("create an agent and invoke it", () => invoke(installation, key));
  return (performance.now() - startedAt) / 1000;
}

/**
 * Removes only the containers, networks and volumes of this project. It also runs after an interruption, so it waits
 * synchronously for its command.
 */
function remove(installation: Installation): void {
  const { folder, env } = installation;
  const [command, ...args] = composeCommand(
    installation,
    "--profile",
    "command",
    "down",
    "--volumes",
    "--timeout",
    "20",
  );
  try {
    execFileSync(command, args, { cwd: folder, env, stdio: "ignore", timeout: phaseLimitMs });
  } catch {
    console.error(`Not everything was removed. In ${folder}: ${[command, ...args].join(" ")}`);
    process.exitCode = 1;
    return;
  }
  rmSync(folder, { recursive: true, force: true });
}

/** The output of the containers shows why it failed. */
function showLogs(installation: Installation): void {
  const { folder, env } = installation;
  const [command, ...args] = composeCommand(installation, "logs", "--tail", "15");
  try {
    execFileSync(command, args, { cwd: folder, env, stdio: ["ignore", "inherit", "inherit"], timeout: 30_000 });
  } catch {
    console.error("The containers' logs cannot be shown.");
  }
}

async function install(engine: ContainerEngine, image: string, isCell: boolean): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), "perch-first-answer-"));
  const files = isCell ? ["compose.yaml", "cell.yaml"] : ["compose.yaml"];
  for (const file of isCell ? [...files, "haproxy.cfg"] : files) {
    copyFileSync(join(import.meta.dirname, file), join(folder, file));
    // HAProxy reads its file as a user of its own.
    chmodSync(join(folder, file), 0o644);
  }
  const port = await freePort();
  const env = {
    ...process.env,
    ...(await chooseImages(engine)),
    BLUE_IMAGE: image,
    COMPOSE_PROJECT_NAME: `perch-first-answer-${process.pid}`,
    API_PORT: String(port),
    // Another cell may run on this machine.
    BALANCER_SUBNET: `172.30.${process.pid % 256}.0/24`,
  };
  return { engine, folder, files, env, url: `http://127.0.0.1:${port}`, image };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { cell: { type: "boolean", default: false }, help: { type: "boolean", short: "h", default: false } },
  });
  if (values.help) return console.log(usage);
  const engine = await findContainerEngine();
  if (typeof engine === "string") return console.log(`first answer: skipped, because ${engine}`);
  const image = (await chooseImages(engine)).SERVER_IMAGE;
  if (image === undefined || !(await hasImage(engine, image)))
    throw new Problem(
      `The image ${image ?? "of the server"} is not here. Pull it, build it with deploy/image/build.ts, or set SERVER_IMAGE.`,
    );
  if (!(await runsContainers(engine, image)))
    return console.log(
      `first answer: skipped, because ${engine.name} runs no containers here: try ${engine.name} run --rm ${image} --version`,
    );
  const installation = await install(engine, image, values.cell);
  try {
    const seconds = await reachFirstAnswer(installation);
    console.log(`first answer after ${seconds.toFixed(1)} s (limit ${limitSeconds} s), with ${engine.name}`);
    if (seconds > limitSeconds) process.exitCode = 1;
  } catch (error) {
    if (!isInterrupted) showLogs(installation);
    throw error;
  } finally {
    await phase("remove everything again", async () => remove(installation));
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    isInterrupted = true;
    for (const child of children) child.kill("SIGTERM");
  });
main().catch((error: unknown) => {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
});
