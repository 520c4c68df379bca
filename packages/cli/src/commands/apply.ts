import { resolve } from "node:path";
import { planFile } from "../agent-file/apply-file.ts";
import { printChanges } from "../agent-file/difference.ts";
import { command, yesOption } from "../command.ts";

const verbs = { created: "create", updated: "update", unchanged: "no change" } as const;

export const apply = command({
  name: "apply",
  summary: "Create or update agents from a file: shows the changes, asks, and applies them.",
  details:
    "The file is the complete definition: fields that it omits are reset to their defaults, except `security`, which changes only if the file has it.\nThis changes the draft. A deployed agent stays as it is until perch deploy.",
  options: {
    file: { type: "string", short: "f", value: "FILE", help: "The file. Default: agent.yaml." },
    "dry-run": { type: "boolean", help: "Only show what would change." },
    yes: yesOption,
  },
  examples: ["perch apply", "perch apply -f agents/support.yaml --yes"],
  run: async ({ perch, terminal, show, isJson, cwd }, _, { file = "agent.yaml", "dry-run": isDry, yes }) => {
    const plans = await planFile(perch(), resolve(cwd, file));
    const report = plans.map(({ name, outcome, changes }) => ({ name, outcome, changes }));
    if (!isJson)
      for (const { name, outcome, changes } of plans) {
        terminal.line(`${terminal.style("bold", name)}: ${verbs[outcome]}`);
        printChanges(terminal, changes);
      }
    const pending = plans.filter(({ outcome }) => outcome !== "unchanged");
    if (isDry || pending.length === 0) return show({ applied: false, agents: report }, () => {});
    // Creating an agent needs no confirmation.
    const changesOld = pending.some(({ outcome }) => outcome === "updated");
    if (changesOld && !(await terminal.confirm("Apply this?", yes === true))) return;
    for (const { run } of pending) await run();
    show({ applied: true, agents: report }, () => {
      for (const { name, outcome } of pending) terminal.line(`${name} ${outcome}.`);
    });
  },
});
