import { resolve } from "node:path";
import { type Plan, planFile } from "../agent-file/apply-file.ts";
import type { AgentCheck } from "../agent-file/check-agent.ts";
import { printChanges } from "../agent-file/difference.ts";
import { type LiveVersion, liveText, liveTextOfDev } from "../agent-file/live-versions.ts";
import { doneLine, isPending, printWarnings, secretLines, setsSecrets } from "../agent-file/plan-text.ts";
import { command, type Session, yesOption } from "../command.ts";
import type { Terminal } from "../terminal.ts";

const verbs = { created: "create", updated: "update", unchanged: "no change" } as const;

function printPlan(terminal: Terminal, plan: Plan): void {
  const { name, outcome, changes, warnings } = plan;
  terminal.line(`${terminal.style("bold", name)}: ${verbs[outcome]}`);
  printChanges(terminal, changes);
  for (const line of secretLines(plan)) terminal.line(terminal.style("green", `  + ${line}`));
  printWarnings(terminal, warnings);
}

/** Nothing of an agent that stays as it was and is live as it is. */
function printApplied(terminal: Terminal, plan: Plan, live: readonly LiveVersion[], isDev: boolean): void {
  const isDeployed = live.length > 0;
  if (isDev && isDeployed) {
    if (isPending(plan)) terminal.line(`${doneLine(plan)}; ${liveTextOfDev(live)}.`);
    return;
  }
  if (isPending(plan)) terminal.line(`${doneLine(plan)}${isDeployed ? " (draft)" : ""}. ${liveText(plan.name, live)}`);
  else if (live.some(({ same_as_draft }) => !same_as_draft))
    terminal.line(`${plan.name} is not live as the file has it: ${liveText(plan.name, live)}`);
}

/** Says what is live and what will not work, one agent after the other. */
async function inspectAll({ terminal, isJson, connection }: Session, plans: readonly Plan[]) {
  const isDev = connection().isDev === true;
  // A check waits for the agent's tools, so it may take seconds.
  const noting = setTimeout(() => terminal.note("checking the models, the tools and the secrets…"), 1000);
  const found: { live: readonly LiveVersion[]; problems: AgentCheck["problems"] }[] = [];
  try {
    for (const plan of plans) {
      const live = await plan.listLive();
      if (!isJson) printApplied(terminal, plan, live, isDev);
      const { problems, warnings } = await plan.check();
      if (!isJson) printWarnings(terminal, warnings);
      found.push({ live, problems });
    }
    return found;
  } finally {
    clearTimeout(noting);
  }
}

export const apply = command({
  name: "apply",
  summary: "Create or update agents from a file: shows the changes, asks, and applies them.",
  details:
    "The file is the complete definition: fields that it omits are reset to their defaults, except `security`, which changes only if the file has it.\nThe values of the file's `secrets` come from the environment, or else from .env beside the file. Values cannot be compared, so each value that is found is sent again. Secrets that the file omits stay.\nThis changes the draft. A deployed agent stays as it is until perch deploy; secrets take effect at once.\nAfterwards the draft is checked as a deployment would check it. What will not work is a warning.",
  options: {
    file: { type: "string", short: "f", value: "FILE", help: "The file. Default: agent.yaml." },
    "dry-run": { type: "boolean", help: "Only show what would change." },
    yes: yesOption,
  },
  examples: ["perch apply", "perch apply -f agents/support.yaml --yes"],
  run: async (session, _, { file = "agent.yaml", "dry-run": isDry, yes }) => {
    const { perch, terminal, show, isJson, cwd, env } = session;
    const plans = await planFile(perch(), resolve(cwd, file), env);
    const report = plans.map(({ name, outcome, changes, secrets, warnings }) => ({
      name,
      outcome,
      changes,
      secrets,
      warnings,
    }));
    if (!isJson) for (const plan of plans) printPlan(terminal, plan);
    if (isDry) return show({ applied: false, agents: report }, () => {});
    const pending = plans.filter(isPending);
    // Creating an agent needs no confirmation; sending something of the environment does.
    const needsConsent = pending.some((plan) => plan.outcome === "updated" || setsSecrets(plan));
    if (needsConsent && !(await terminal.confirm("Apply this?", yes === true))) return;
    for (const { run } of pending) await run();
    const found = await inspectAll(session, plans);
    show(
      { applied: pending.length > 0, agents: report.map((agent, index) => ({ ...agent, ...found[index] })) },
      () => {},
    );
  },
});
