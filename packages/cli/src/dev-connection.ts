import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { perchCommand } from "./perch-command.ts";
import { Problem } from "./problem.ts";
import type { Profile } from "./profiles.ts";

type DevConnection = Profile & { readonly source: string; readonly reason: string; readonly isDev: true };

const isLoopback = (url: string): boolean =>
  URL.canParse(url) &&
  /^https?:$/.test(new URL(url).protocol) &&
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);

const elsewhere = "Remove the file if it is not yours, or name another server with --profile.";

/** The file may have come with a cloned repository, or be in a folder that others can write to, such as /tmp. */
function readDevFile(file: string, folder: string): DevConnection | undefined {
  if (process.getuid && statSync(file).uid !== process.getuid())
    throw new Problem(`${file} belongs to another user of this machine, so it is not used.`, elsewhere);
  const { url, key } = parse(file);
  if (!url || !key) return undefined;
  if (!isLoopback(url))
    throw new Problem(
      `${file} names ${url}, which is not on this machine: perch dev did not write that, so it is not used.`,
      elsewhere,
    );
  return { url, key, source: `perch dev in ${folder}`, reason: `perch dev was started in ${folder}`, isDev: true };
}

function parse(file: string): { readonly url?: string; readonly key?: string } {
  try {
    const { url, key } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    return { ...(typeof url === "string" && { url }), ...(typeof key === "string" && { key }) };
  } catch {
    throw new Problem(
      `${file} is not what perch dev writes.`,
      `Remove it, or start \`${perchCommand("dev --reset")}\`.`,
    );
  }
}

/** The connection that `perch dev` wrote, in this folder or one above. Its key is for its own address. */
export function findDevelopment(cwd: string): DevConnection | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = join(folder, ".perch/dev.json");
    const found = existsSync(file) ? readDevFile(file, folder) : undefined;
    if (found || folder === dirname(folder)) return found;
  }
}
