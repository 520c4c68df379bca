import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseDuration, parseWhole } from "../output/duration.ts";
import { perchCommand } from "../perch-command.ts";
import { inPlainWords } from "../plain-words.ts";
import { Problem, UsageError } from "../problem.ts";

/** `v20260131-120000`: unused so far, and sorts by time. */
const newLabel = (): string => `v${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")}`;

const parseNumber = (option: string, text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new UsageError(`perch deploy: --${option} is a number.`);
  return value;
};

/** Waits for the checks: afterwards the deployment is live, or it has failed and the previous one stays live. */
async function waitForChecks({ perch, terminal, signal }: Session, first: Deployment): Promise<Deployment> {
  const client = perch();
  let deployment = first;
  if (deployment.status === "pending") terminal.note("checking the model, the tools and the limits…");
  for (let waitMs = 100; deployment.status === "pending"; waitMs = Math.min(waitMs * 1.5, 2000)) {
    await sleep(waitMs, undefined, { signal });
    deployment = await client.deployments.get(deployment.agent_id, deployment.id, { signal });
  }
  return deployment;
}

const guardOptions = {
  "max-error-rate-increase": {
    type: "string",
    value: "0.05",
    help: "Canary: roll back if its error rate is higher by more than this.",
  },
  "max-p95-ratio": {
    type: "string",
    value: "1.5",
    help: "Canary: roll back if its p95 run time is more than this many times the live one's.",
  },
  "max-mean-tokens-ratio": {
    type: "string",
    value: "1.5",
    help: "Canary: roll back if its mean tokens per run are more than this many times the live one's.",
  },
  "min-runs": {
    type: "string",
    value: "N",
    help: "Canary: runs of each deployment before they are compared. Default: 50.",
  },
  window: { type: "string", value: "TIME", help: "Canary: how long to watch it. Default: 1h." },
} as const;

function guardsOf(options: { readonly [K in keyof typeof guardOptions]?: string }) {
  const rules = omitUndefined({
    max_error_rate_increase: options["max-error-rate-increase"],
    max_p95_ratio: options["max-p95-ratio"],
    max_mean_tokens_ratio: options["max-mean-tokens-ratio"],
  });
  const { "min-runs": runs, window } = options;
  const limits = omitUndefined({
    min_runs: runs === undefined ? undefined : parseWhole("min-runs", runs),
    window_seconds: window === undefined ? undefined : parseDuration("window", window),
  });
  const numbers = Object.entries(rules).map(([name, text]) => [name, parseNumber(name.replaceAll("_", "-"), text)]);
  if (numbers.length === 0 && Object.keys(limits).length === 0) return undefined;
  return { ...(Object.fromEntries(numbers) as { max_p95_ratio?: number }), ...limits };
}

export const deploy = command({
  name: "deploy",
  summary: "Deploy the draft as a new version, and wait for its checks.",
  details: "If the checks fail, the exit code is 1 and the live version stays live.",
  args: ["agent"],
  options: {
    label: { type: "string", value: "LABEL", help: "Label of the version. Default: made from the current time." },
    environment: { type: "string", value: "NAME", help: "The environment. Default: production." },
    canary: { type: "string", value: "PERCENT", help: "Create a canary that gets this share of requests." },
    redeploy: { type: "boolean", help: "Deploy an existing version even though the draft has changed since." },
    ...guardOptions,
  },
  examples: ["perch deploy support", "perch deploy support --label v2 --canary 10 --max-p95-ratio 1.5"],
  run: async (session, { agent }, { label = newLabel(), environment = "production", canary, redeploy, ...guards }) => {
    const { perch, terminal, show, signal } = session;
    const traffic = canary === undefined ? undefined : parseWhole("canary", canary);
    const body = {
      environment,
      version: label,
      ...omitUndefined({ traffic_percent: traffic, redeploy, guards: guardsOf(guards) }),
    };
    const created = await perch().deployments.create(agent, body, { signal });
    terminal.note(`${label} to ${environment}: ${created.id}`);
    const decided = await waitForChecks(session, created);
    const hint = `${decided.id} has failed; what was live stays live.`;
    if (decided.status === "failed") throw new Problem(inPlainWords(decided.error ?? "The checks failed."), hint);
    show(decided, () => {
      const whole = `${label} is live in ${environment}.`;
      const part = `${label} gets ${decided.traffic_percent} % of ${environment}.`;
      terminal.line(terminal.style("green", decided.traffic_percent === 100 ? whole : part));
      const next =
        decided.traffic_percent === 100
          ? `${perchCommand(`rollback ${agent}`)} takes it back.`
          : `This puts it live:\n  ${perchCommand(`deployments promote ${agent} ${decided.id}`)}`;
      terminal.note(terminal.style("dim", next));
    });
  },
});
