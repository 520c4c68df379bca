import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findOnPath } from "@perch/testkit/services/commands.ts";

const execute = promisify(execFile);

/** Debian's other runtime, crun, refuses the cgroups of some machines that runc accepts. */
const runtime = findOnPath("runc") ? ["--runtime", "runc"] : [];

/** Runs podman and returns its output. Secrets are in `env`; podman passes on those that `--env` names. */
export async function podman(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await execute("podman", [...runtime, ...args], {
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.trim();
}

/** Why no image can be built and run here, or undefined. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "building an image from Debian's packages needs root";
  const missing = ["buildah", "podman", "mmdebstrap"].filter((tool) => !findOnPath(tool));
  if (missing.length > 0) return `${missing.join(" and ")} not on PATH (apt-get install ${missing.join(" ")} runc)`;
  try {
    await execute("unshare", ["--mount", "--pid", "--fork", "true"]);
    await podman(["info"]);
    return undefined;
  } catch (error) {
    return `this machine does not run containers: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** podman's own defaults are more than a machine without CAP_SYS_RESOURCE may give. */
const limits = ["nofile", "nproc"].flatMap((name) => ["--ulimit", `${name}=4096:4096`]);

/**
 * The strictest container that an operator may configure: no rights, nothing to write to, and a user without an
 * account.
 */
export const confined = [
  ...limits,
  ...["--read-only", "--read-only-tmpfs=false"],
  ...["--cap-drop", "all", "--security-opt", "no-new-privileges"],
  ...["--memory", "512m", "--user", "483920:0"],
];

export interface Container {
  readonly id: string;
  readonly logs: () => Promise<string>;
  readonly isRunning: () => Promise<boolean>;
  /** Sends SIGTERM, and SIGKILL after `limitSeconds`. Returns the exit code. */
  readonly stop: (limitSeconds: number) => Promise<number>;
  readonly remove: () => Promise<void>;
}

const passed = (env: NodeJS.ProcessEnv) => Object.keys(env).flatMap((name) => ["--env", name]);

/** Starts a container on the network of this machine, which has the services of the tests. */
export async function startContainer(image: string, args: string[], env: NodeJS.ProcessEnv): Promise<Container> {
  const id = await podman(["run", "--detach", "--network", "host", ...confined, ...passed(env), image, ...args], env);
  const inspect = (field: string) => podman(["container", "inspect", "--format", `{{.State.${field}}}`, id]);
  return {
    id,
    logs: async () => {
      const { stdout, stderr } = await execute("podman", ["logs", id]);
      return stdout + stderr;
    },
    isRunning: async () => (await inspect("Running")) === "true",
    stop: async (limitSeconds) => {
      await podman(["stop", "--time", String(limitSeconds), id]);
      return Number(await inspect("ExitCode"));
    },
    remove: async () => void (await podman(["rm", "--force", id])),
  };
}

/** Runs one command in a container to its end. */
export const runInContainer = (image: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> =>
  podman(["run", "--rm", "--network", "host", ...confined, ...passed(env), image, ...args], env);
