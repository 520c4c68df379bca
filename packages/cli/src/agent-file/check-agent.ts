import { type AgentProblem, type Perch, PerchError } from "@perch/sdk";
import { perchCommand } from "../perch-command.ts";
import { inPlainWords } from "../plain-words.ts";
import type { Fields } from "./fields.ts";
import type { AgentDocument } from "./read-agent-file.ts";

/** What will not work of an agent whose file is applied, as a deployment would find it. */
export interface AgentCheck {
  /** Null if it could not be checked. */
  readonly problems: readonly AgentProblem[] | null;
  /** The problems for a reader: where in the file, what, and what to do. */
  readonly warnings: readonly string[];
}

const wellKnown = ["openai", "anthropic", "google"];

function modelAt(fields: Fields, field: string): string | undefined {
  const [name, index] = field.split(".");
  const found = name === "model" ? fields.model : (fields.fallback_models as unknown[] | undefined)?.[Number(index)];
  return typeof found === "string" ? found : undefined;
}

/** The command that adds the provider, unless it is there and only lacks the model. */
function providerHint(model: string | undefined, message: string): string | undefined {
  const provider = model?.split("/")[0];
  if (!provider || !model?.includes("/") || message.includes(` ${provider}/`, message.indexOf("Use one of")))
    return undefined;
  return wellKnown.includes(provider)
    ? perchCommand(`providers add ${provider} --type ${provider} --api-key-env ${provider.toUpperCase()}_API_KEY`)
    : `${perchCommand(`providers add ${provider} --base-url http://127.0.0.1:11434/v1`)}   # or wherever it is`;
}

function warningOf({ fields, locationOf }: AgentDocument, { kind, field, message }: AgentProblem): string {
  const isUnknown = kind === "model" && message.startsWith("There is no model");
  const hint = isUnknown ? providerHint(modelAt(fields, field), message) : undefined;
  return `${locationOf(field)}: ${inPlainWords(message)}${hint ? `\n  ${hint}` : ""}`;
}

/** `planned`: what was said of the file's secrets already, better than the server could. Never fails: what was applied stays. */
export async function checkAgent(
  perch: Perch,
  document: AgentDocument,
  planned: readonly string[],
): Promise<AgentCheck> {
  try {
    const { problems } = await perch.agents.check(document.name);
    const isNew = ({ kind }: AgentProblem) => kind !== "secret" || planned.length === 0;
    return { problems, warnings: problems.filter(isNew).map((problem) => warningOf(document, problem)) };
  } catch (error) {
    if (!(error instanceof PerchError)) throw error;
    return { problems: null, warnings: [`${document.name} could not be checked: ${error.shortMessage}`] };
  }
}
