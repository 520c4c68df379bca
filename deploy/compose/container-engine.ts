import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

export interface ContainerEngine {
  readonly name: "docker" | "podman";
  /** The program and its first arguments. */
  readonly compose: readonly [string, ...string[]];
  /**
   * The owner of the files that a container writes into a mounted folder, so that they are ours: rootless podman maps
   * us to root.
   */
  readonly user: string;
}

const root = join(import.meta.dirname, "../..");
const venv = join(root, ".tools/podman-compose");
const requirements = join(import.meta.dirname, "podman-compose.txt");

const succeeds = (command: string, ...args: string[]): Promise<boolean> =>
  promisify(execFile)(command, args, { timeout: 30_000 }).then(
    () => true,
    () => false,
  );

async function runAndShow(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`);
}

/** podman-compose from PyPI, with fixed versions, into a folder of its own. */
async function installPodmanCompose(): Promise<string> {
  const [program, installed] = [join(venv, "bin/podman-compose"), join(venv, "installed.txt")];
  const wanted = readFileSync(requirements, "utf8");
  if (existsSync(installed) && readFileSync(installed, "utf8") === wanted) return program;
  console.log("installing podman-compose ...");
  mkdirSync(dirname(venv), { recursive: true });
  await runAndShow("python3", ["-m", "venv", "--clear", venv]);
  const quietly = ["--quiet", "--disable-pip-version-check", "--require-hashes"];
  await runAndShow(join(venv, "bin/pip"), ["install", ...quietly, "-r", requirements]);
  writeFileSync(installed, wanted);
  return program;
}

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, command)));

/** Docker with its compose plugin, or podman. If neither runs containers here, a sentence with the reason. */
export async function findContainerEngine(): Promise<ContainerEngine | string> {
  if ((await succeeds("docker", "info")) && (await succeeds("docker", "compose", "version")))
    return { name: "docker", compose: ["docker", "compose"], user: `${process.getuid?.()}:${process.getgid?.()}` };
  if (!isOnPath("podman")) return "neither `docker compose` nor podman runs on this machine";
  if (!(await succeeds("podman", "info"))) return "podman does not work on this machine: see `podman info`";
  const compose = isOnPath("podman-compose") ? "podman-compose" : await installPodmanCompose();
  return { name: "podman", compose: [compose], user: "0:0" };
}

export const hasImage = ({ name }: ContainerEngine, image: string): Promise<boolean> =>
  succeeds(name, "image", "inspect", image);

/** An image may be here although no container can run, for lack of rights or namespaces. */
export const runsContainers = ({ name }: ContainerEngine, image: string): Promise<boolean> =>
  succeeds(name, "run", "--rm", "--network", "none", image, "--version");
