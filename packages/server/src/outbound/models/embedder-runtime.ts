import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, sep } from "node:path";

const name = "onnxruntime-node";

/**
 * The package that computes with the weights. It is an optional peer dependency, installed by operators who want it.
 */
export function hasRuntime(): boolean {
  try {
    return createRequire(import.meta.url).resolve(name) !== "";
  } catch {
    return false;
  }
}

function runtimeVersion(): string {
  const manifest = readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8");
  return (JSON.parse(manifest) as { peerDependencies: Record<string, string> }).peerDependencies[name] ?? "latest";
}

/** Without its script, which would download a build for graphics cards. */
export const runtimePackage = (): string => `--ignore-scripts ${name}@${runtimeVersion()}`;

/** The command that installs the runtime where this server finds it, as it would be typed on this machine. */
export function runtimeCommand(): string {
  if (extname(import.meta.filename) === ".ts") return "pnpm install";
  const [outermost = ""] = import.meta.dirname.split(`${sep}node_modules${sep}`);
  // A folder without a manifest is npm's global one, from which an install with --prefix would remove everything else.
  const place = existsSync(join(outermost, "package.json")) ? `--prefix ${outermost}` : "--global";
  return `npm install ${place} ${runtimePackage()}`;
}
