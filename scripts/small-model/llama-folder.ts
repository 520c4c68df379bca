import { renameSync } from "node:fs";
import { join } from "node:path";
import { findOnPath, isExecutable, Problem, withProgress } from "@perch/testkit/services/commands.ts";
import { bootstrapDebian, installableDebian, installPackages } from "@perch/testkit/services/debian.ts";
import { folder } from "./layout.ts";
import { withPartial } from "./partial.ts";

export const serverPath = "/usr/bin/llama-server";

export function isFolderInstalled(): boolean {
  return isExecutable(join(folder, serverPath));
}

/** llama.cpp is only in Debian's unstable suite, so it is installed into a folder of its own. */
export async function ensureFolder(): Promise<void> {
  if (isFolderInstalled()) return;
  if (!installableDebian()) throw new Problem("small-model: llama-server is only installed by root on Debian.");
  if (!findOnPath("mmdebstrap")) await installPackages(["mmdebstrap"]);
  await withProgress("llama-server: installing into a Debian folder (once, one or two minutes)", () =>
    withPartial(folder, async (partial) => {
      await bootstrapDebian({ target: partial, suite: "sid", packages: ["llama.cpp-tools"] });
      renameSync(partial, folder);
    }),
  );
}
