import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import server from "../../packages/server/package.json" with { type: "json" };
import { whyNoContainers } from "../image/containers.ts";
import { createMachines, type Machine, removeMachines } from "./machines.ts";

/**
 * Follows docs/operations/install.md from the image alone: its commands, in its order, on seven machines, which are network namespaces of
 * this one. Two API nodes and two workers behind nginx. Then it kills one of each while a client calls. Needs root on Debian.
 */

const usage = `node deploy/manual/try-manual.ts [--image IMAGE]

  --image   the image of the server, localhost/perch-server:VERSION unless given

Needs root on Debian, podman, nginx-light, libnginx-mod-stream, and the images that
deploy/image/build.ts and deploy/image/parts.ts build.`;

const root = join(import.meta.dirname, "../..");
const pages = join(root, "docs/operations");
const folder = mkdtempSync(join(tmpdir(), "perch-manual-"));
const perchDir = join(folder, "perch");
const nginxDir = join(folder, "nginx");

class Problem extends Error {}

/** The blocks of shell commands below a heading. */
function blocksOf(page: string, heading: string): string[] {
  const text = readFileSync(join(pages, page), "utf8");
  const section = text.split(/^## /m).find((each) => each.startsWith(heading));
  if (section === undefined) throw new Problem(`${page} has no heading "${heading}".`);
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
}

function block(page: string, heading: string, contains: string): string {
  const found = blocksOf(page, heading).find((each) => each.includes(contains));
  if (found === undefined) throw new Problem(`${page}, "${heading}", has no commands with "${contains}".`);
  return found;
}

/** What an operator changes: names of machines, and here also places and names that others on this machine may use. */
const replacements: readonly (readonly [string | RegExp, string])[] = [
  [/\/etc\/perch\b/g, perchDir],
  [/\/etc\/nginx\b(?!\/modules-enabled)/g, nginxDir],
  [/\b(db|valkey|engine)\.internal\b/g, "10.0.0.2"],
  [/\bbalancer\.internal\b/g, "10.0.0.5"],
  [/--name "\$name"/g, '--name "perch-manual-$machine-$name"'],
  [/--detach --name (?!")(\S+)/g, "--detach --name perch-manual-$1"],
  [/--volume perch-(\w+):/g, "--volume perch-manual-$1:"],
  ["pgvector/pgvector:pg17", "localhost/perch-test-postgres:latest"],
  ["valkey/valkey:8", "localhost/perch-test-valkey:latest"],
  ["restatedev/restate:1.7.12", "localhost/perch-test-restate:latest"],
];

function adapt(commands: string, image: string): string {
  const changed = replacements.reduce((text, [from, to]) => text.replaceAll(from, to), commands);
  return changed.replaceAll(`localhost/perch-server:${server.version}`, image);
}

/** Runs commands on a machine, shows what they print, and returns their standard output. */
async function runOn({ namespace, name }: Machine, commands: string): Promise<string> {
  const preamble = `machine=${name}\ncurl() { command curl --cacert ${join(folder, "ca.crt")} --resolve perch.example:443:10.0.0.5 "$@"; }\n`;
  const shell = ["bash", "-euo", "pipefail", "-c", preamble + commands];
  // Not `ip netns exec`, which also replaces /sys and with it the cgroups that podman needs.
  const child = spawn("nsenter", [`--net=/run/netns/${namespace}`, ...shell], {
    cwd: root,
    env: process.env,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 180_000,
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString("utf8");
  });
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0) throw new Problem(`On ${name}, these commands ended with ${code}:\n${commands}\n${printed}`);
  return printed.trim();
}

async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  console.log(`${title} ...`);
  const startedAt = performance.now();
  const result = await work();
  console.log(`${title}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}

/** An authority, a certificate of perch.example, and the CA of clients, where the manual expects them. */
function makeCertificates(): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  openssl("req", "-x509", ...newKey, "-subj", "/CN=Authority", "-keyout", "ca.key", "-out", "ca.crt");
  const names = ["-subj", "/CN=perch.example", "-addext", "subjectAltName=DNS:perch.example"];
  openssl(
    "req",
    "-x509",
    ...newKey,
    ...names,
    "-CA",
    "ca.crt",
    "-CAkey",
    "ca.key",
    "-keyout",
    "perch.key",
    "-out",
    "perch.crt",
  );
  execFileSync("cp", ["ca.crt", "clients-ca.crt"], { cwd: folder });
}

interface Installation {
  readonly machines: Readonly<Record<string, Machine>>;
  readonly image: string;
}

const machine = ({ machines }: Installation, name: string): Machine => {
  const found = machines[name];
  if (!found) throw new Problem(`There is no machine ${name}.`);
  return found;
};

async function install(installation: Installation): Promise<string> {
  const { image } = installation;
  const on = (name: string, ...commands: string[]) =>
    runOn(machine(installation, name), adapt(commands.join("\n"), image));
  const perchServer = block("install.md", "2. Get the server", "podman run --rm --interactive");
  const operate = (commands: string) => on("worker-1", perchServer, commands);

  await step("3. settings", () => on("worker-1", block("install.md", "3. Write", "PERCH_START_WAIT_SECONDS")));
  await step("4. secrets", () => operate(block("install.md", "4. Make", "create-secrets")));
  await step("5. PostgreSQL, Valkey, engine", () => on("data", block("install.md", "5. Start", "podman run")));
  await step("6. database", async () => {
    await operate(block("install.md", "6. Prepare", "prepare-database"));
    await operate(block("install.md", "6. Prepare", "perch_server migrate"));
  });
  await step("7. nginx", async () => {
    mkdirSync(nginxDir);
    const commands = block("balancers.md", "Install nginx", "nginx -t").split("\n");
    const copies = commands.filter((line) => /^cp /.test(line)).join("\n");
    await on("balancer", `cd ${folder}\nln -sfn ${root}/deploy deploy`, copies);
    moveNginxFiles();
    await on("balancer", `nginx -e ${nginxDir}/error.log -c ${nginxDir}/nginx.conf`);
  });
  await step("8. API nodes and workers", async () => {
    const commands = block("install.md", "8. Start", "--stop-timeout").split("\n");
    const define = commands.filter((line) => !/^(run|podman logs) /.test(line)).join("\n");
    const start = (role: string) => commands.find((line) => line.startsWith(`run perch-${role}`)) ?? "false";
    for (const name of ["api-1", "api-2"]) await on(name, define, start("serve"));
    for (const name of ["worker-1", "worker-2"]) await on(name, define, start("work"));
    const ready = block("install.md", "8. Start", "/readyz");
    await on("client", ready.replace("curl", "curl -sf --retry 30 --retry-delay 1 --retry-all-errors"));
  });
  await step("9. doctor", async () => console.log(await operate(block("install.md", "9. Check", "doctor"))));
  return step("10. first answer", async () => {
    const [creation, ...calls] = block("install.md", "10. The first answer", "create-organisation").split("\ncurl");
    const key = (await operate(`${creation}\necho "$key"`)).split("\n").at(-1)?.trim() ?? "";
    const answer = await on("client", `key=${key}`, ...calls.map((call) => `curl${call}`));
    if (!answer.includes('"response":"Hello"')) throw new Problem(`The answer is ${answer}`);
    return key;
  });
}

/** Its files are in the folder, not where Debian has them. */
function moveNginxFiles(): void {
  const file = join(nginxDir, "nginx.conf");
  const text = readFileSync(file, "utf8")
    .replaceAll(/\/etc\/nginx\/(perch|clients-ca)\./g, `${nginxDir}/$1.`)
    .replace("pid /run/nginx.pid;", `pid ${nginxDir}/pid;\nerror_log ${nginxDir}/error.log;`)
    .replace("http {\n", "http {\n  access_log off;\n");
  writeFileSync(file, text);
}

/** As docs/operations/drills.md says it: a client that repeats what failed sees nothing but 200. */
async function drill(installation: Installation, key: string, title: string, container: string): Promise<void> {
  const loop = block("drills.md", "Before each drill", "while sleep")
    .replace("while sleep 0.2", "end=$((SECONDS + 8)); while [ $SECONDS -lt $end ] && sleep 0.1")
    .replace(" | tee drill.log", "");
  // A call that fails is counted, and does not end the others.
  const calls = runOn(machine(installation, "client"), adapt(`set +e\nkey=${key}\n${loop}`, installation.image));
  const killed = sleep(2000).then(() => execFileSync("podman", ["kill", container], { stdio: "ignore" }));
  const lines = (await Promise.all([calls, killed]))[0].split("\n").map((line) => line.split(" ") as [string, string]);
  const failed = lines.filter(([status]) => status !== "200");
  const slowest = Math.max(...lines.map(([, seconds]) => Number(seconds)));
  console.log(`${title}: ${lines.length} calls, ${failed.length} failed, the slowest took ${slowest.toFixed(2)} s`);
  if (failed.length > 0) throw new Problem(`Calls failed: ${failed.map((line) => line.join(" ")).join("; ")}`);
}

function remove(): void {
  const quietly = (command: string, ...args: string[]) => {
    try {
      return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
      return "";
    }
  };
  const containers = quietly("podman", "ps", "-aq", "--filter", "name=perch-manual-").split("\n").filter(Boolean);
  if (containers.length > 0) quietly("podman", "rm", "-f", "--time", "0", ...containers);
  quietly("podman", "volume", "rm", "perch-manual-postgres", "perch-manual-engine");
  const pid = join(nginxDir, "pid");
  if (existsSync(pid)) process.kill(Number(readFileSync(pid, "utf8")), "SIGTERM");
  removeMachines();
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { image: { type: "string" }, help: { type: "boolean", short: "h", default: false } },
  });
  if (values.help) return console.log(usage);
  const obstacle = await whyNoContainers();
  if (obstacle !== undefined) return console.log(`manual: skipped, because ${obstacle}`);
  const startedAt = performance.now();
  const image = values.image ?? `localhost/perch-server:${server.version}`;
  try {
    makeCertificates();
    const installation = { machines: createMachines(), image };
    const key = await install(installation);
    const seconds = (performance.now() - startedAt) / 1000;
    console.log(`from nothing to the first answer in ${seconds.toFixed(1)} s`);
    await drill(installation, key, "a worker killed", "perch-manual-worker-1-perch-work");
    await drill(installation, key, "an API node killed", "perch-manual-api-1-perch-serve");
  } finally {
    remove();
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    remove();
    process.exit(1);
  });
main().catch((error: unknown) => {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
});
