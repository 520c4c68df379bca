import { resolve } from "node:path";
import { type Plan, planFile } from "../agent-file/apply-file.ts";
import { printChanges } from "../agent-file/difference.ts";
import { doneLine, isPending, secretLines, setsSecrets } from "../agent-file/plan-text.ts";
import { command, yesOption } from "../command.ts";
import type { Terminal } from "../terminal.ts";

const verbs = { created: "create", updated: "update", unchanged: "no change" } as const;

function printPlan(terminal: Terminal, plan: Plan): void {
  const { name, outcome, changes, warnings } = plan;
  terminal.line(`${terminal.style("bold", name)}: ${verbs[outcome]}`);
  printChanges(terminal, changes);
  for (const line of secretLines(plan)) terminal.line(terminal.style("green", `  + ${line}`));
  for (const warning of warnings) terminal.note(`${terminal.style("yellow", "warning:")} ${warning}`);
}

export const apply = command({
  name: "apply",
  summary: "Create or update agents from a file: shows the changes, asks, and applies them.",
  details:
    "The file is the complete definition: fields that it omits are reset to their defaults, except `security`, which changes only if the file has it.\nThe values of the file's `secrets` come from the environment, or else from .env beside the file. Values cannot be compared, so each value that is found is sent again. Secrets that the file omits stay.\nThis changes the draft. A deployed agent stays as it is until perch deploy; secrets take effect at once.",
  options: {
    file: { type: "string", short: "f", value: "FILE", help: "The file. Default: agent.yaml." },
    "dry-run": { type: "boolean", help: "Only show what would change." },
    yes: yesOption,
  },
  examples: ["perch apply", "perch apply -f agents/support.yaml --yes"],
  run: async ({ perch, terminal, show, isJson, cwd, env }, _, { file = "agent.yaml", "dry-run": isDry, yes }) => {
    const plans = await planFile(perch(), resolve(cwd, file), env);
    const report = plans.map(({ run: _run, ...shown }) => shown);
    if (!isJson) for (const plan of plans) printPlan(terminal, plan);
    const pending = plans.filter(isPending);
    if (isDry || pending.length === 0) return show({ applied: false, agents: report }, () => {});
    // Creating an agent needs no confirmation; sending something of the environment does.
    const needsConsent = pending.some((plan) => plan.outcome === "updated" || setsSecrets(plan));
    if (needsConsent && !(await terminal.confirm("Apply this?", yes === true))) return;
    for (const { run } of pending) await run();
    show({ applied: true, agents: report }, () => {
      for (const plan of pending) terminal.line(`${doneLine(plan)}.`);
    });
  },
});
