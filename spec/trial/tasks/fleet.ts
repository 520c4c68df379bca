import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmInstall, writeManifest } from "@perch/testkit/packaging/install-packages.ts";
import { expectText } from "../expect.ts";
import { startFleet } from "../fleet.ts";
import type { Task } from "../task.ts";

export const fleet: Task = {
  number: 10,
  title: "two API nodes and two workers on a bare database",
  needs: [1],
  run: async (trial) => {
    const folder = join(trial.root, "server");
    writeManifest(folder, trial.the("tarballs"), ["@perch/server"]);
    await trial.run(["npm", ...npmInstall], { cwd: folder });
    const started = await startFleet(trial, folder);
    trial.make({ fleet: started });
    // Away from the folder of `perch dev`, whose server would be used.
    const cwd = join(trial.root, "operator");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "agent.yaml"), "name: everywhere\nmodel: perch/echo\n");
    const at = (url: string) => ({ cwd, env: { PERCH_URL: url, PERCH_API_KEY: started.apiKey } });
    const [first, second] = started.nodes.map(({ url }) => url);
    await trial.run(["perch", "apply", "--yes"], at(first ?? ""));
    for (const url of [first ?? "", second ?? ""])
      expectText(
        await trial.run(["perch", "invoke", "everywhere", "--draft", `Hello at ${url}`], at(url)),
        `Hello at ${url}`,
      );
    return "";
  },
};
