import { ForbiddenError, InvalidRequestError, type Perch, type Secret } from "@perch/sdk";
import { perchCommand } from "../perch-command.ts";
import { Problem } from "../problem.ts";
import { setSecret, updateSecret } from "../set-secret.ts";
import type { DeclaredSecret, FoundValue, ValueSource } from "./declared-secrets.ts";
import type { AgentDocument } from "./read-agent-file.ts";
import { hostOf, originOf, type SecretReference, secretReferencesOf } from "./secret-references.ts";

/** The change of one secret of the file. It names the source of the value, never the value. */
export interface SecretStep {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly variable: string;
  readonly source: FoundValue["source"] | null;
  /** `missing`: it does not exist, and its variable is not set. */
  readonly outcome: "created" | "updated" | "unchanged" | "missing";
}

export interface SecretsPlan {
  readonly steps: readonly SecretStep[];
  /** The parts that will not work, and their remedy. */
  readonly warnings: readonly string[];
  /** Whether calls of the agent carry secrets. */
  readonly hasReferences: boolean;
  readonly run: () => Promise<void>;
}

type HostsByName = ReadonlyMap<string, readonly string[]>;

interface Known {
  /** The agent's own. */
  readonly own: HostsByName;
  /** Null if this key may not list them. */
  readonly organisation: HostsByName | null;
}

const hostsByName = (secrets: readonly Secret[]): HostsByName =>
  new Map(secrets.map(({ name, hosts }) => [name, hosts]));
const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((host) => b.includes(host));

/** Asks only for the secrets that the file needs: nothing if it has none. */
async function findKnown(perch: Perch, document: AgentDocument, isNew: boolean, names: Set<string>): Promise<Known> {
  const none: HostsByName = new Map();
  if (names.size === 0 && document.secrets.length === 0) return { own: none, organisation: none };
  const own = isNew ? none : hostsByName(await perch.agentSecrets.list(document.name).toArray());
  const isOwn = (name: string) => own.has(name) || document.secrets.some((declared) => declared.name === name);
  if ([...names].every(isOwn)) return { own, organisation: none };
  try {
    return { own, organisation: hostsByName(await perch.secrets.list().toArray()) };
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error;
    return { own, organisation: null };
  }
}

interface Planned {
  readonly step: SecretStep;
  /** The hosts that the secret has afterwards. */
  readonly hosts: readonly string[] | undefined;
  readonly warning?: string;
  readonly run?: () => Promise<unknown>;
}

/** `isRefused`: there is a value, and the user does not want it to be sent. */
function planSecret(
  perch: Perch,
  agent: string,
  declared: DeclaredSecret,
  before: readonly string[] | undefined,
  found: FoundValue | undefined,
  isRefused: boolean,
): Planned {
  const { name, hosts, variable } = declared;
  const key = { name, agent };
  const step = (outcome: SecretStep["outcome"]): SecretStep => ({
    name,
    hosts,
    variable,
    source: found?.source ?? null,
    outcome,
  });
  if (found) {
    const run = () => setSecret(perch, key, { value: found.value, hosts });
    return { step: step(before ? "updated" : "created"), hosts, run };
  }
  if (isRefused)
    return {
      step: step(before ? "unchanged" : "missing"),
      hosts: before,
      warning: `the value of ${variable} was not sent to ${hosts.join(", ")}. Start ${perchCommand("dev")} again in a terminal and answer y; without a terminal it sends values of .env beside the file only.`,
    };
  const again = "Set it in the environment or in .env beside the file, and apply again.";
  if (!before)
    return {
      step: step("missing"),
      hosts: undefined,
      warning: `the secret ${name} does not exist, and ${variable} is not set. ${again}`,
    };
  if (isSame(before, hosts)) return { step: step("unchanged"), hosts };
  if (hosts.every((host) => before.includes(host))) {
    const run = () => updateSecret(perch, key, { hosts });
    return { step: step("updated"), hosts, run };
  }
  return {
    step: step("unchanged"),
    hosts: before,
    warning: `the hosts of ${name} stay ${before.join(", ")}: a new host needs the value again, and ${variable} is not set. ${again}`,
  };
}

/** Why a call with this reference would be refused, if it would. */
function warningOf(
  { name, url, isGuessed }: SecretReference,
  agent: string,
  { own, organisation }: Known,
): string | undefined {
  const set = (hosts: readonly string[], isOwn: boolean) =>
    perchCommand(
      `secrets set ${name} ${hosts.map((host) => `--host ${host}`).join(" ")}${isOwn ? ` --agent ${agent}` : ""}`,
    );
  const hosts = own.get(name) ?? organisation?.get(name);
  if (!hosts && !organisation)
    return `{{secret.${name}}} is not a secret of ${agent}, and this key may not list the organisation's, so it was not checked. A key for all agents shows them: ${perchCommand("secrets")}`;
  if (!hosts)
    return `{{secret.${name}}} exists neither for ${agent} nor for the organisation. Set it: ${set([hostOf(url)], true)}`;
  const origin = originOf(url);
  if (isGuessed || origin === undefined || hosts.some((host) => originOf(host) === origin)) return undefined;
  return `{{secret.${name}}} is not sent to ${hostOf(url)}: its hosts are ${hosts.join(", ")}. Correct the address, or set it for this host too: ${set([...hosts, hostOf(url)], own.has(name))}`;
}

/** Names the secret that was refused, and the variable instead of the field `value`. */
async function withVariable(
  { locationOf }: AgentDocument,
  { name, variable }: SecretStep,
  work: () => Promise<unknown>,
) {
  try {
    await work();
  } catch (error) {
    const isExplained = error instanceof ForbiddenError || error instanceof InvalidRequestError;
    if (!isExplained) throw error;
    const place = locationOf(`secrets.${name}`);
    const details = error.details.map(({ field, error: reason }) =>
      field === "value"
        ? `${place}: the value of ${variable}: ${reason}`
        : `${locationOf(`secrets.${name}.${field}`)}: ${field}: ${reason}`,
    );
    const request = `(${error.status}, correlation id ${error.correlationId})`;
    if (error instanceof InvalidRequestError && details.length > 0) throw new Problem(details.join("\n"), request);
    const message = `${place}: the secret ${name} was not set. ${error.shortMessage}`;
    throw new Problem(message, `Use a key that may manage, or unset ${variable} to apply the rest.\n${request}`);
  }
}

/** The secrets that the file declares, and whether those that its definition refers to exist and fit. */
export async function planSecrets(
  perch: Perch,
  document: AgentDocument,
  isNew: boolean,
  { findValue, agreeToSend = async () => true }: ValueSource,
): Promise<SecretsPlan> {
  const { name: agent, fields, secrets, locationOf } = document;
  const references = secretReferencesOf(fields);
  const known = await findKnown(perch, document, isNew, new Set(references.map(({ name }) => name)));
  const planned: Planned[] = [];
  for (const declared of secrets) {
    const value = findValue(declared.variable);
    const isRefused = value !== undefined && !(await agreeToSend(declared, value, document.source.file));
    const before = known.own.get(declared.name);
    planned.push(planSecret(perch, agent, declared, before, isRefused ? undefined : value, isRefused));
  }
  const own = new Map(known.own);
  for (const { step, hosts } of planned) if (hosts) own.set(step.name, hosts);
  const isMissing = (name: string) => planned.some(({ step }) => step.name === name && step.outcome === "missing");
  const referred = references
    .filter(({ name }) => !isMissing(name))
    .map((reference) => ({ reference, text: warningOf(reference, agent, { ...known, own }) }));
  return {
    steps: planned.map(({ step }) => step),
    warnings: [
      ...planned.flatMap(({ step, warning }) => (warning ? [`${locationOf(`secrets.${step.name}`)}: ${warning}`] : [])),
      ...referred.flatMap(({ reference, text }) => (text ? [`${locationOf(reference.path)}: ${text}`] : [])),
    ],
    hasReferences: references.length > 0,
    run: async () => {
      for (const { step, run } of planned) if (run) await withVariable(document, step, run);
    },
  };
}
