import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem, run } from "@perch/testkit/services/commands.ts";
import { nodeBuilds, nodeFile, nodeVersion } from "./image-layout.ts";

/**
 * Node as its makers built it, and its licence. It is not stripped: that would save 18 MB, but remove the names from a
 * crash report.
 */
export async function addNode(root: string, folder: string): Promise<void> {
  const build = nodeBuilds[process.arch];
  if (build === undefined)
    throw new Problem(`There is no image for ${process.arch}: build on ${Object.keys(nodeBuilds).join(" or ")}.`);
  const unpacked = join(folder, "node");
  mkdirSync(unpacked, { recursive: true });
  const pack = ["pack", "--silent", "--pack-destination", unpacked, `${build.packageName}@${nodeVersion}`];
  const tarball = join(unpacked, (await run("npm", pack)).trim());
  const digest = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (digest !== build.integrity)
    throw new Problem(`${build.packageName} ${nodeVersion} is not the file that image-layout.ts expects: ${digest}`);
  await run("tar", ["-xzf", tarball, "-C", unpacked, "package/bin/node", "package/LICENSE"]);
  for (const [from, to] of [
    ["package/bin/node", nodeFile],
    ["package/LICENSE", "/usr/share/doc/node/LICENSE"],
  ] as const) {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    cpSync(join(unpacked, from), join(root, to));
  }
}
