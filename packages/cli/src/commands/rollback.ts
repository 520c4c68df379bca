import type { Deployment } from "@perch/sdk";
import { command, type Session, yesOption } from "../command.ts";
import { perchCommand } from "../perch-command.ts";
import { previouslyLive, wasLive } from "../previously-live.ts";
import { Problem } from "../problem.ts";

interface Plan {
  /** The deployment to name in the call. */
  readonly target: Deployment;
  readonly live: Deployment;
  /** It is a canary, which ends; what is live stays. */
  readonly isCanary: boolean;
}

/** What a rollback will do. Its target is named in the call, so that it does this even if somebody deploys meanwhile. */
function planRollback(agent: string, deployments: readonly Deployment[], chosen: Deployment | undefined): Plan {
  const environment = chosen?.environment ?? deployments[0]?.environment;
  const live = deployments.find((one) => one.status === "active" && wasLive(one));
  const shows = `\`${perchCommand(`deployments ${agent}`)}\` shows what was.`;
  if (!live) throw new Problem(`Nothing is live${environment ? ` in ${environment}` : ""}.`, shows);
  const isCanary = chosen?.status === "active" && !wasLive(chosen);
  const target = chosen && chosen.id !== live.id ? chosen : previouslyLive(deployments, live);
  if (target) return { target, live, isCanary };
  throw new Problem(`Nothing was live in ${live.environment} before ${live.version} (${live.id}).`, shows);
}

function printPlan({ terminal, time }: Session, { target, live, isCanary }: Plan): void {
  const describe = ({ version, id, activated_at, created_at }: Deployment) =>
    `${version}\n    ${id}, deployed ${time(activated_at ?? created_at)}`;
  terminal.note(`Live in ${live.environment} now: ${describe(live)}`);
  if (isCanary) terminal.note(`It stays live. The canary ends: ${describe(target)}`);
  else terminal.note(`Live after this: ${describe(target)}`);
}

function printDone({ terminal }: Session, { live, isCanary }: Plan, done: Deployment): void {
  const { version, environment, id } = done;
  if (isCanary) {
    terminal.line(terminal.style("green", `${live.version} gets all requests of ${environment} again.`));
    terminal.note(`The canary ${version} (${id}) was rolled back.`);
    return;
  }
  terminal.line(terminal.style("green", `${version} is live in ${environment} again.`));
  terminal.note(`Its deployment is ${id}. ${live.version} (${live.id}) was rolled back.`);
}

export const rollback = command({
  name: "rollback",
  summary: "Go back to the previous version, or to that of a deployment.",
  details:
    "Says which version is live now and which will be, and asks. If you name a canary's deployment, the canary ends. `perch deployments AGENT` lists deployments.",
  args: ["agent", "deployment?"],
  options: {
    environment: { type: "string", value: "NAME", help: "The environment. Default: production." },
    yes: yesOption,
  },
  examples: ["perch rollback support", "perch rollback support dep_01h455vb4pex5vsknk084sn02q --yes"],
  run: async (session, { agent, deployment }, { environment: wanted = "production", yes }) => {
    const { perch, terminal, show, signal, isJson } = session;
    const client = perch();
    const chosen = deployment === undefined ? undefined : await client.deployments.get(agent, deployment, { signal });
    const environment = chosen?.environment ?? wanted;
    const { data } = await client.deployments.list(agent, { environment, limit: 100 }, { signal });
    if (data.length === 0)
      throw new Problem(
        `Nothing was deployed to ${environment} yet.`,
        `\`${perchCommand(`deploy ${agent}`)}\` deploys the draft.`,
      );
    const plan = planRollback(agent, data, chosen);
    if (!isJson) printPlan(session, plan);
    const question = plan.isCanary ? "End the canary?" : `Put ${plan.target.version} back?`;
    if (!(await terminal.confirm(question, yes === true))) return;
    const done = await client.deployments.rollback(agent, plan.target.id, { signal });
    show(done, () => printDone(session, plan, done));
  },
});
