import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { expectText } from "../expect.ts";
import { ensureModel } from "../order-model.ts";
import type { Task } from "../task.ts";
import type { Trial } from "../trial.ts";

/** The template's own program listens at a fixed port, which may be taken here: the user changes it in its files. */
async function startProgram(trial: Trial, folder: string): Promise<void> {
  const port = await freePort();
  for (const name of ["agent.yaml", "server.mjs"]) {
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replaceAll("8801", String(port)));
  }
  await trial.start(["node", "server.mjs"], "listens", { cwd: folder });
}

async function tryTemplate(trial: Trial, template: string): Promise<void> {
  const name = `${template}-bot`;
  const cwd = join(trial.home, name);
  const message = `Hello, ${template}`;
  await trial.run(["perch", "init", name, "--template", template]);
  if (existsSync(join(cwd, "server.mjs"))) await startProgram(trial, cwd);
  if (readFileSync(join(cwd, "agent.yaml"), "utf8").includes("model: local/")) await ensureModel(trial);
  await trial.run(["perch", "apply", "--yes"], { cwd });
  expectText(await trial.run(["perch", "invoke", name, message], { cwd }), message);
}

export const templates: Task = {
  number: 4,
  title: "every template",
  needs: [2],
  run: async (trial) => {
    const names = readdirSync(join(trial.home, "node_modules/perch/templates")).sort();
    if (names.length === 0) throw new Error("The package has no templates.");
    for (const name of names) await tryTemplate(trial, name);
    return names.join(", ");
  },
};
