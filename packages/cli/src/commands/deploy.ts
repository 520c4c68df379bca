import { setTimeout as sleep } from "node:timers/promises";
import type { Deployment } from "@perch/sdk";
import { command, type Session } from "../command.ts";
import { given } from "../given.ts";
import { parseDuration, parseWhole } from "../output/duration.ts";
import { Problem, UsageError } from "../problem.ts";

/** `v20260131-120000`: one that nobody has used, in the order of time. */
const newLabel = (): string => `v${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")}`;

const share = (option: string, text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new UsageError(`perch deploy: --${option} is a number.`);
  return value;
};

/** Waits for the checks to end: it is live then, or it has failed and what was live stays so. */
async function untilDecided({ perch, terminal, signal }: Session, first: Deployment): Promise<Deployment> {
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
  "max-error-rate-increase": { type: "string", value: "0.05", help: "Canary: ends if it fails that much more often." },
  "max-p95-ratio": { type: "string", value: "1.5", help: "Canary: ends if its p95 is that much higher." },
  "max-mean-tokens-ratio": { type: "string", value: "1.5", help: "Canary: ends if it takes that many more tokens." },
  "min-runs": { type: "string", value: "N", help: "Canary: runs of each before anything is judged; 50 unless set." },
  window: { type: "string", value: "TIME", help: "Canary: how long it is watched; 1h unless set." },
} as const;

function guardsOf(options: { readonly [K in keyof typeof guardOptions]?: string }) {
  const rules = given({
    max_error_rate_increase: options["max-error-rate-increase"],
    max_p95_ratio: options["max-p95-ratio"],
    max_mean_tokens_ratio: options["max-mean-tokens-ratio"],
  });
  const { "min-runs": runs, window } = options;
  const limits = given({
    min_runs: runs === undefined ? undefined : parseWhole("min-runs", runs),
    window_seconds: window === undefined ? undefined : parseDuration("window", window),
  });
  const numbers = Object.entries(rules).map(([name, text]) => [name, share(name.replaceAll("_", "-"), text)]);
  if (numbers.length === 0 && Object.keys(limits).length === 0) return undefined;
  return { ...(Object.fromEntries(numbers) as { max_p95_ratio?: number }), ...limits };
}

export const deploy = command({
  name: "deploy",
  summary: "Make the agent's draft a version and put it live; waits for the checks and says what they found.",
  details: "A deployment that fails its checks changes nothing: what was live stays live. Exit code 1 then.",
  args: ["agent"],
  options: {
    label: { type: "string", value: "LABEL", help: "The version's label; made from the time unless set." },
    environment: { type: "string", value: "NAME", help: "Where; production unless set." },
    canary: { type: "string", value: "PERCENT", help: "Only this share of requests, beside what is live." },
    redeploy: { type: "boolean", help: "Deploy a version that exists as it is, though the draft has changed since." },
    ...guardOptions,
  },
  examples: ["perch deploy support", "perch deploy support --label v2 --canary 10 --max-p95-ratio 1.5"],
  run: async (session, { agent }, { label = newLabel(), environment = "production", canary, redeploy, ...guards }) => {
    const { perch, terminal, show, signal } = session;
    const traffic = canary === undefined ? undefined : parseWhole("canary", canary);
    const body = {
      environment,
      version: label,
      ...given({ traffic_percent: traffic, redeploy, guards: guardsOf(guards) }),
    };
    const created = await perch().deployments.create(agent, body, { signal });
    terminal.note(`${label} to ${environment}: ${created.id}`);
    const decided = await untilDecided(session, created);
    const hint = `${decided.id} has failed; what was live stays live.`;
    if (decided.status === "failed") throw new Problem(decided.error ?? "The checks failed.", hint);
    show(decided, () => {
      const whole = `${label} is live in ${environment}.`;
      const part = `${label} gets ${decided.traffic_percent} % of ${environment}. perch deployments promote ${agent} ${decided.id} puts it live.`;
      terminal.line(terminal.style("green", decided.traffic_percent === 100 ? whole : part));
      terminal.note(terminal.style("dim", `perch rollback ${agent} takes it back.`));
    });
  },
});
