import { defaultFile, requireSources } from "../agent-file/agent-sources.ts";
import { type Applied, applyPlans, type Plan, planAgents } from "../agent-file/apply-file.ts";
import type { AgentCheck } from "../agent-file/check-agent.ts";
import { printChanges } from "../agent-file/difference.ts";
import { type LiveVersion, liveText, liveTextOfDev } from "../agent-file/live-versions.ts";
import { doneLine, isPending, printWarnings, secretLines, setsSecrets } from "../agent-file/plan-text.ts";
import { requireAgents } from "../agent-file/read-agent-file.ts";
import { command, fileOption, type Session, yesOption } from "../command.ts";
import { Problem } from "../problem.ts";
import { errorText } from "../report-error.ts";
import type { Terminal } from "../terminal.ts";

const verbs = { created: "create", updated: "update", unchanged: "no change" } as const;

function printPlan(terminal: Terminal, plan: Plan): void {
  const { name, outcome, changes, warnings } = plan;
  // Instructions are long, so the text after a line break is indented below the text, not below its sign.
  const line = (text = "") => terminal.line(terminal.wrap(text, 6));
  line(`${terminal.style("bold", name)}: ${verbs[outcome]}`);
  printChanges({ ...terminal, line }, changes);
  for (const text of secretLines(plan)) line(terminal.style("green", `  + ${text}`));
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

/** Prints the live version and the problems of each agent. */
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

/** All refusals, each with its place in its file, and how many agents were applied all the same. */
function throwRefusals({ isJson, connection }: Session, applied: readonly Applied[]): void {
  const errors = applied.flatMap(({ error }) => (error ? [error] : []));
  if (errors.length === 0) return;
  // As JSON, a single error has its own code and fields.
  if (errors.length === 1 && isJson) throw errors[0];
  const server = connection();
  const agents = applied.length === 1 ? "agent was" : "agents were";
  throw new Problem(
    errors.map((error) => errorText(error, { server })).join("\n"),
    `${applied.length - errors.length} of ${applied.length} ${agents} applied.`,
  );
}

export const apply = command({
  name: "apply",
  summary: "Create or update agents from files. Asks before it changes an agent that exists.",
  details:
    "A folder stands for all of its *.yaml and *.yml. Before anything is applied, all files are checked: their YAML, that each agent has a name that no other has, their `secrets` and references to secrets. If one of these is wrong, nothing is applied. Everything else is checked by the server, agent by agent: what it refuses of one does not stop the others.\nThe file is the complete definition: fields that it omits are reset to their defaults, except `security`, which changes only if the file has it.\nThe values of the file's `secrets` come from the environment, or else from .env beside the file. Values cannot be compared, so each value that is found is sent again, after a confirmation. Secrets that the file omits stay.\nThis changes the draft. A deployed agent stays as it is until perch deploy; secrets take effect at once.\nAfterwards the draft is checked as a deployment would check it. What will not work is a warning.",
  options: {
    file: fileOption,
    "dry-run": { type: "boolean", help: "Only show what would change." },
    yes: yesOption,
  },
  examples: ["perch apply", "perch apply -f agents/ --yes", "perch apply -f support.yaml -f sales.yaml"],
  run: async (session, _, { file: paths = [defaultFile], "dry-run": isDry, yes }) => {
    const { perch, terminal, show, isJson, cwd, env } = session;
    const plans = await planAgents(perch(), requireAgents(requireSources(cwd, paths)), env);
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
    const applied = await applyPlans(pending);
    const refused = new Set(applied.flatMap(({ plan, error }) => (error ? [plan] : [])));
    if (refused.size > 0) {
      if (!isJson)
        await inspectAll(
          session,
          plans.filter((plan) => !refused.has(plan)),
        );
      throwRefusals(session, applied);
    }
    const found = await inspectAll(session, plans);
    show(
      { applied: pending.length > 0, agents: report.map((agent, index) => ({ ...agent, ...found[index] })) },
      () => {},
    );
  },
});
