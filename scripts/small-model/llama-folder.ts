import { renameSync } from "node:fs";
import { join } from "node:path";
import { findOnPath, isExecutable, run } from "../services/commands.ts";
import { debianMirror, installPackages, writableDebian } from "../services/debian.ts";
import { Problem } from "../services/problem.ts";
import { withProgress } from "../services/progress.ts";
import { folder } from "./layout.ts";
import { withPartial } from "./partial.ts";

export const serverPath = "/usr/bin/llama-server";

const aptOptions = ['Acquire::Check-Valid-Until "false"', 'APT::Install-Recommends "false"', 'Acquire::Retries "3"'];
const unread = ["doc", "man", "locale"];

export function isFolderInstalled(): boolean {
  return isExecutable(join(folder, serverPath));
}

/** llama.cpp is only in Debian's unstable suite, which no machine should have to run for its sake: hence a folder. */
export async function ensureFolder(): Promise<void> {
  if (isFolderInstalled()) return;
  if (!writableDebian()) throw new Problem("small-model: llama-server is only installed by root on Debian.");
  if (!findOnPath("mmdebstrap")) await installPackages(["mmdebstrap"]);
  await withProgress("llama-server: installing into a Debian folder (once, one or two minutes)", () =>
    withPartial(folder, async (partial) => {
      await run("mmdebstrap", [
        "--quiet",
        "--variant=minbase",
        "--mode=root",
        ...aptOptions.map((option) => `--aptopt=${option}`),
        ...unread.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
        "--include=llama.cpp-tools",
        "sid",
        partial,
        `deb ${debianMirror()} sid main`,
      ]);
      renameSync(partial, folder);
    }),
  );
}
