import { join } from "node:path";
import { npmInstall, refuseInstallScripts, writeManifest } from "@perch/testkit/packaging/install-packages.ts";
import { measureInstalled } from "../installed-size.ts";
import type { Task } from "../task.ts";

const checkout = join(import.meta.dirname, "../../..");

export const install: Task = {
  number: 1,
  title: "pack and install",
  needs: [],
  run: async (trial) => {
    const packed = join(trial.root, "packed");
    const printed = await trial.run(["node", "--no-warnings", "scripts/pack-packages.ts", packed], { cwd: checkout });
    const tarballs = new Map(
      [...printed.matchAll(/^(\w+): (\S+\.tgz)$/gm)].map(([, name = "", file = ""]) => [name, file]),
    );
    const wheel = /^python: (\S+\.whl)$/m.exec(printed)?.[1];
    if (tarballs.size < 4 || !wheel) throw new Error(`Four packages and a wheel should be packed:\n${printed}`);
    writeManifest(trial.home, tarballs, ["perch"]);
    await trial.run(["npm", ...npmInstall]);
    refuseInstallScripts(trial.home);
    const installed = await measureInstalled(join(trial.home, "node_modules"));
    trial.make({ tarballs, wheel, installed });
    return `${Math.round((installed[0]?.kilobytes ?? 0) / 1024)} MB in ${installed.length - 1} packages`;
  },
};
