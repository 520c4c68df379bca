import {
  type Agent,
  ConflictError,
  type CreateAgent,
  etagOf,
  InvalidRequestError,
  NotFoundError,
  type Perch,
  PerchError,
} from "@perch/sdk";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import { type AgentCheck, checkAgent } from "./check-agent.ts";
import { type AgreeToSend, createFindValue, type ValueSource } from "./declared-secrets.ts";
import { type Change, changesBetween, hideSecrets, type ShownChange } from "./difference.ts";
import { type Fields, isObject } from "./fields.ts";
import { type LiveVersion, listLiveVersions } from "./live-versions.ts";
import { planSecrets, type SecretStep } from "./plan-secrets.ts";
import { type AgentDocument, desiredDefinition } from "./read-agent-file.ts";

export type Outcome = "created" | "updated" | "unchanged";

/** The changes of applying one agent, and the function that makes them. */
export interface Plan {
  readonly name: string;
  /** The file's name, for messages. */
  readonly file: string;
  readonly outcome: Outcome;
  readonly changes: readonly ShownChange[];
  readonly secrets: readonly SecretStep[];
  readonly warnings: readonly string[];
  /** Whether the agent's calls carry secrets, and so does a check of its tools. */
  readonly sendsSecrets: boolean;
  readonly run: () => Promise<void>;
  /** The deployed versions, compared with the draft that was applied. */
  readonly listLive: () => Promise<LiveVersion[]>;
  readonly check: () => Promise<AgentCheck>;
}

/** Adds the location of the refused fields to the error. */
async function withLocation<T>({ locationOf }: AgentDocument, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InvalidRequestError) || error.details.length === 0) throw error;
    const lines = error.details.map(({ field, error: reason }) => `${locationOf(field)}: ${field}: ${reason}`);
    throw new Problem(lines.join("\n"), `(${error.status}, correlation id ${error.correlationId})`);
  }
}

/** If the file no longer has a block of `security`, null removes it. */
function patchOf(wanted: Fields, current: Fields, changes: readonly Change[]): Record<string, unknown> {
  const fields = new Set(changes.map(({ path: [field = ""] }) => field));
  const patch: Record<string, unknown> = {};
  for (const field of fields) patch[field] = wanted[field] ?? null;
  if (isObject(patch.security) && isObject(current.security)) {
    const removed = Object.keys(current.security).filter((block) => !(block in (wanted.security as object)));
    patch.security = { ...Object.fromEntries(removed.map((block) => [block, null])), ...patch.security };
  }
  return patch;
}

async function findAgent(perch: Perch, name: string): Promise<Agent | undefined> {
  try {
    return await perch.agents.get(name);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** The plan was made for an agent that is another one by now. */
async function whileUnchanged<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PerchError) || error.code !== "precondition_failed") throw error;
    throw new Problem(
      `${name} was changed since it was compared with the file, so it was left as it is.`,
      `Run ${perchCommand("apply")} again: it shows what would change now.`,
    );
  }
}

function planChanges(perch: Perch, document: AgentDocument, agent: Agent) {
  const { name, fields } = document;
  const current: Fields = { ...agent };
  const wanted = desiredDefinition(fields);
  const before = Object.fromEntries(Object.keys(wanted).map((field) => [field, current[field]]));
  const changes = changesBetween(before, wanted);
  const body = patchOf(wanted, current, changes);
  return {
    outcome: changes.length === 0 ? ("unchanged" as const) : ("updated" as const),
    changes: hideSecrets(changes),
    update: async () => {
      if (changes.length === 0) return;
      const patch = () =>
        perch.request("PATCH /v1/agents/{agent_id}", { params: { agent_id: name }, body }, { ifMatch: etagOf(agent) });
      await whileUnchanged(name, () => withLocation(document, patch));
    },
  };
}

/** Printed before the confirmation, because the list of changes does not show this consequence. */
function warnOfAuth({ name, fields }: AgentDocument, changes: readonly ShownChange[], current?: Agent): string[] {
  if (!isObject(fields.auth) || !changes.some(({ path }) => path.split(".")[0] === "auth")) return [];
  const takeBack = current?.auth
    ? "Changing it again will need such a token."
    : `For one hour, the key that applies this can read and update ${name} without a token, to take it back.`;
  return [`auth: requests to ${name} will need a user's token as well as a key. ${takeBack}`];
}

async function planAgent(perch: Perch, document: AgentDocument, values: ValueSource): Promise<Plan> {
  const { name, fields } = document;
  const current = await findAgent(perch, name);
  const planned = await planSecrets(perch, document, !current, values);
  const { steps, warnings, run: setSecrets } = planned;
  const about = {
    name,
    file: document.source.name,
    secrets: steps,
    warnings,
    sendsSecrets: planned.hasReferences,
    listLive: () => listLiveVersions(perch, name),
    check: () => checkAgent(perch, document, warnings),
  };
  if (current) {
    const { update, ...changed } = planChanges(perch, document, current);
    return {
      ...about,
      ...changed,
      warnings: [...warnings, ...warnOfAuth(document, changed.changes, current)],
      // Sets secrets first, so that they exist before the definition refers to them.
      run: async () => {
        await setSecrets();
        await update();
      },
    };
  }
  const { name: _, ...definition } = fields;
  const created = hideSecrets(changesBetween({}, definition));
  return {
    ...about,
    outcome: "created",
    changes: created,
    warnings: [...warnings, ...warnOfAuth(document, created)],
    run: async () => {
      try {
        // The server reports the missing fields and their places.
        const body = { ...definition, name } as CreateAgent;
        await withLocation(document, () => perch.request("POST /v1/agents", { body }));
      } catch (conflict) {
        // It was created meanwhile, for example by perch dev when the file was saved.
        if (!(conflict instanceof ConflictError)) throw conflict;
        const plan = await planAgent(perch, document, values);
        // The agent still does not exist, so the conflict means that the quota is used up.
        if (plan.outcome === "created") throw conflict;
        return plan.run();
      }
      // Only an agent that exists can have secrets.
      await setSecrets();
    },
  };
}

/** Values of secrets come from `env`, or from `.env` beside the agent's file. All of them are sent unless `agreeToSend` refuses. */
export async function planAgents(
  perch: Perch,
  documents: readonly AgentDocument[],
  env: NodeJS.ProcessEnv,
  agreeToSend?: AgreeToSend,
): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (const document of documents) {
    const findValue = createFindValue(env, document.source.file);
    plans.push(await planAgent(perch, document, { findValue, ...(agreeToSend && { agreeToSend }) }));
  }
  return plans;
}

/** The outcome of one plan: `error` is the reason of a refusal. */
export interface Applied {
  readonly plan: Plan;
  readonly error?: Problem | PerchError;
}

/** Applies one plan after the other. A refusal of one does not stop the others. */
export async function applyPlans(plans: readonly Plan[]): Promise<Applied[]> {
  const applied: Applied[] = [];
  for (const plan of plans) {
    try {
      await plan.run();
      applied.push({ plan });
    } catch (error) {
      const isRefused = error instanceof Problem || (error instanceof PerchError && error.status !== undefined);
      if (!isRefused) throw error;
      applied.push({ plan, error });
    }
  }
  return applied;
}
