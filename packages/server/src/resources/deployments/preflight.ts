import { PermanentModelError } from "../../outbound/models/model.ts";
import type { FindSecrets } from "../../outbound/secrets/find-secrets.ts";
import { type CallTemplate, findRefusal, secretNamesOf } from "../../outbound/secrets/resolve-call.ts";
import { agentHeaders } from "../../outbound/signing/agent-headers.ts";
import { PermanentToolError, TransientToolError } from "../../outbound/tools/tool-errors.ts";
import type { Tools } from "../../outbound/tools/tools.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { FindModel } from "../providers/find-model.ts";
import type { Definition } from "./version-rules.ts";

interface PreflightDeps {
  readonly findModel: FindModel;
  readonly tools: Tools;
  readonly findSecrets: FindSecrets;
  /** For URLs that come from a tenant. */
  readonly fetch: typeof globalThis.fetch;
}

/** What is wrong with a definition, for its creator; null when nothing is. */
export type Preflight = (agent: AgentKey, definition: Definition) => Promise<string | null>;

const timeoutMs = 20_000;

/** Settings that contradict each other. */
export function checkLimits({ model, fallback_models, tools, limits, runtime }: Definition): string | null {
  if (runtime.type === "http") return null;
  if (tools.length > 0 && limits.max_steps < 2)
    return "The agent has tools, but limits.max_steps is 1: it could call one and never use the result. Allow 2 or more.";
  const models = [model, ...fallback_models];
  const duplicate = models.find((ref, i) => models.indexOf(ref) !== i);
  return duplicate ? `fallback_models names ${duplicate} twice: a model that failed would be its own fallback.` : null;
}

/** The calls that its runs may make, but for those of providers. A remote agent has tools of its own. */
const callsOf = ({ runtime, tools }: Definition): CallTemplate[] =>
  runtime.type === "http"
    ? [{ ...runtime, subject: "The remote agent" }]
    : tools.map((tool) => ({
        ...tool,
        subject: `${tool.type === "mcp" ? "The MCP server" : "The tool"} ${tool.name}`,
      }));

const joinProblems = (...problems: readonly (string | null)[]): string | null =>
  problems.filter((problem) => problem !== null).join(" ") || null;

export function createPreflight({ findModel, tools, findSecrets, fetch }: PreflightDeps): Preflight {
  /** Any HTTP response will do, whatever its status. */
  const checkReachable = async (
    agent: AgentKey,
    subject: string,
    url: string,
    signal: AbortSignal,
  ): Promise<string | null> => {
    try {
      const response = await fetch(url, { method: "OPTIONS", headers: agentHeaders(agent), signal });
      await response.body?.cancel();
      return null;
    } catch (error) {
      const reason =
        error instanceof Error && error.name === "RefusedAddressError" ? error.message : "It could not be reached.";
      return `${subject} at ${new URL(url).host} does not answer. ${reason}`;
    }
  };

  /** All that is wrong with references to secrets, so that nobody has to deploy once for each. */
  const checkSecrets = async (agent: AgentKey, definition: Definition): Promise<string | null> => {
    const calls = callsOf(definition);
    const names = [...new Set(calls.flatMap(secretNamesOf))];
    if (names.length === 0) return null;
    const found = await findSecrets(agent, names);
    return joinProblems(...calls.map((call) => findRefusal(call, agent, found)?.message ?? null));
  };

  const checkModels = async (
    organisationId: string,
    { model, fallback_models }: Definition,
  ): Promise<string | null> => {
    for (const ref of [model, ...fallback_models]) {
      try {
        await findModel(organisationId, ref);
      } catch (error) {
        if (error instanceof PermanentModelError) return error.message;
        throw error;
      }
    }
    return null;
  };

  const checkTools = async (
    agent: AgentKey,
    { tools: definitions }: Definition,
    signal: AbortSignal,
  ): Promise<string | null> => {
    for (const tool of definitions)
      if (tool.type === "http") {
        const problem = await checkReachable(agent, `The tool ${tool.name}`, tool.url, signal);
        if (problem) return problem;
      }
    try {
      await tools.list(definitions, agent, signal);
      return null;
    } catch (error) {
      if (error instanceof PermanentToolError || error instanceof TransientToolError) return error.message;
      throw error;
    }
  };

  return async (agent, definition) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const { runtime } = definition;
    if (runtime.type === "http")
      return (
        (await checkSecrets(agent, definition)) ??
        (await checkReachable(agent, "The remote agent", runtime.url, signal))
      );
    return (
      checkLimits(definition) ??
      joinProblems(await checkSecrets(agent, definition), await checkModels(agent.organisationId, definition)) ??
      (await checkTools(agent, definition, signal))
    );
  };
}
