import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The helm that renders the chart. Another version may write the same manifests in another order. */
export const helmVersion = "v4.3.1";

const toolsDir = join(import.meta.dirname, "../../.tools/helm");
const program = join(toolsDir, "helm");

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (text: Buffer) => (output.stdout += text));
  child.stderr.on("data", (text: Buffer) => (output.stderr += text));
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  return { code, ...output };
}

/** Builds helm from its Go modules into a folder that git ignores. No other source is reachable from every machine. */
async function build(): Promise<void> {
  console.log(`building helm ${helmVersion} from its Go modules into ${toolsDir}, for about three minutes ...`);
  const child = spawn("nice", ["go", "install", `helm.sh/helm/v4/cmd/helm@${helmVersion}`], {
    env: { ...process.env, GOBIN: toolsDir, CGO_ENABLED: "0" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0)
    throw new Error(
      `helm ${helmVersion} was not built. Install Go 1.26 or later, or put a helm of that version at ${program}.`,
    );
}

/** The path of the helm that this checkout uses. `HELM` names another one. */
export async function findHelm(): Promise<string> {
  const own = process.env.HELM;
  if (own) return own;
  if (!existsSync(program)) await build();
  return program;
}
