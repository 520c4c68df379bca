import type { AgentProblem } from "@perch/contract";
import { findConnectFailure } from "../../outbound/connect-failures.ts";
import { PermanentModelError } from "../../outbound/models/model.ts";
import type { OAuthTool } from "../../outbound/oauth/oauth-client.ts";
import type { FindSecrets } from "../../outbound/secrets/find-secrets.ts";
import { type CallTemplate, findRefusal, secretNamesOf } from "../../outbound/secrets/resolve-call.ts";
import { agentHeaders } from "../../outbound/signing/agent-headers.ts";
import type { RunTool } from "../../outbound/tools/tool.ts";
import { PermanentToolError, TransientToolError } from "../../outbound/tools/tool-errors.ts";
import type { Tools } from "../../outbound/tools/tools.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { FindModel } from "../providers/find-model.ts";
import type { CheckConnection } from "./check-connection.ts";
import type { Definition } from "./version-rules.ts";

type Tool = Definition["tools"][number];

interface PreflightDeps {
  readonly findModel: FindModel;
  readonly tools: Pick<Tools, "list">;
  readonly findSecrets: FindSecrets;
  readonly checkConnection: CheckConnection;
  /** Further rules for tools: for all tools of a definition, and for those that a server has listed. */
  readonly toolRules: {
    readonly check: (definition: Definition) => readonly AgentProblem[];
    readonly checkListed: (tool: Tool, field: string, listed: readonly RunTool[]) => readonly AgentProblem[];
  };
  /** For URLs that come from a tenant. */
  readonly fetch: typeof globalThis.fetch;
}

/** All problems of a definition, for its author. A service that has not answered after `timeoutMs` is one of them. */
export type Preflight = (
  agent: AgentKey,
  definition: Definition,
  timeoutMs: number,
) => Promise<readonly AgentProblem[]>;

/** Settings that contradict each other. */
export function checkLimits({ model, fallback_models, tools, limits, runtime }: Definition): AgentProblem[] {
  if (runtime.type === "http") return [];
  const problems: AgentProblem[] = [];
  if (tools.length > 0 && limits.max_steps < 2)
    problems.push({
      kind: "limits",
      field: "limits.max_steps",
      message:
        "The agent has tools, but limits.max_steps is 1: it could call one and never use the result. Allow 2 or more.",
    });
  const models = [model, ...fallback_models];
  const at = models.findIndex((ref, i) => models.indexOf(ref) !== i);
  if (at > 0)
    problems.push({
      kind: "model",
      field: `fallback_models.${at - 1}`,
      message: `fallback_models names ${models[at]} twice: a model that failed would be its own fallback. Name it once.`,
    });
  return problems;
}

interface Call {
  readonly field: string;
  readonly template: CallTemplate;
}

/** The calls that its runs may make, except those to providers. A remote agent has its own tools. */
const callsOf = ({ runtime, tools }: Definition): Call[] =>
  runtime.type === "http"
    ? [{ field: "runtime", template: { ...runtime, subject: "The remote agent" } }]
    : tools.flatMap((tool, index) => {
        // It asks a person, and makes no call.
        if (tool.type === "ask_person") return [];
        const subject = `${tool.type === "mcp" ? "The MCP server" : "The tool"} ${tool.name}`;
        return [{ field: `tools.${index}`, template: { ...tool, subject, isApproved: tool.type === "http" } }];
      });

/** Whether its tools can be listed now. With users' accounts they are listed in the run of a user. */
const isListed = (tool: Tool): boolean => tool.type === "mcp" && tool.connection?.account !== "user";

const toOAuthTool = (tool: Tool): OAuthTool | undefined => {
  if (tool.type === "ask_person" || !tool.connection) return undefined;
  const { type, name, url, connection } = tool;
  return { type, name, url, connection };
};

export function createPreflight(deps: PreflightDeps): Preflight {
  const { findModel, tools, findSecrets, checkConnection, toolRules, fetch } = deps;
  /** Any HTTP response will do, whatever its status. */
  const checkReachable = async (
    agent: AgentKey,
    { subject, url }: CallTemplate,
    signal: AbortSignal,
  ): Promise<string | null> => {
    try {
      const response = await fetch(url, { method: "OPTIONS", headers: agentHeaders(agent), signal });
      await response.body?.cancel();
      return null;
    } catch (error) {
      const { host } = new URL(url);
      if (error instanceof Error && error.name === "RefusedAddressError")
        return `${subject} at ${host} is not called. ${error.message}`;
      const failure = findConnectFailure(error);
      if (!failure) return `${subject} at ${host} does not answer. Start it, or correct \`url\`.`;
      return `${subject} at ${host} could not be reached: ${failure.reason}. ${failure.adviceAbout("`url`")}`;
    }
  };

  const checkSecrets = async (agent: AgentKey, calls: readonly Call[]): Promise<AgentProblem[]> => {
    const names = [...new Set(calls.flatMap(({ template }) => secretNamesOf(template)))];
    if (names.length === 0) return [];
    const found = await findSecrets(agent, names);
    return calls.flatMap(({ field, template }) => {
      const refusal = findRefusal(template, agent, found);
      return refusal ? [{ kind: "secret" as const, field, message: refusal.message }] : [];
    });
  };

  const checkModel = async (organisationId: string, ref: string, field: string): Promise<AgentProblem[]> => {
    try {
      await findModel(organisationId, ref);
      return [];
    } catch (error) {
      if (error instanceof PermanentModelError) return [{ kind: "model", field, message: error.message }];
      throw error;
    }
  };

  const checkListing = async (
    agent: AgentKey,
    listed: Definition["tools"],
    signal: AbortSignal,
  ): Promise<string | readonly RunTool[]> => {
    try {
      return await tools.list(listed, { ...agent, userId: null }, signal);
    } catch (error) {
      if (error instanceof PermanentToolError) return error.message;
      if (error instanceof TransientToolError) return `${error.message} ${error.advice}`.trimEnd();
      throw error;
    }
  };

  const checkCall = async (
    agent: AgentKey,
    definitions: readonly Tool[],
    { field, template }: Call,
    signal: AbortSignal,
  ): Promise<AgentProblem[]> => {
    const tool = definitions[Number(field.slice("tools.".length))];
    const connected = tool && toOAuthTool(tool);
    const ofConnection = connected ? await checkConnection(agent, connected, `${field}.connection`, signal) : [];
    const isOnlyServer = definitions.filter(isListed).length === 1;
    const found =
      tool && isListed(tool)
        ? await checkListing(agent, isOnlyServer ? [...definitions] : [tool], signal)
        : await checkReachable(agent, template, signal);
    if (typeof found === "string") return [...ofConnection, { kind: "tool", field, message: found }];
    return tool && found ? [...ofConnection, ...toolRules.checkListed(tool, field, found)] : ofConnection;
  };

  /**
   * One MCP server at a time, so that each reports its own problems. All of them together may still be too many tools.
   */
  const checkTools = async (
    agent: AgentKey,
    definition: Definition,
    calls: readonly Call[],
    signal: AbortSignal,
  ): Promise<AgentProblem[]> => {
    const { tools: definitions } = definition;
    const checked = await Promise.all(calls.map((call) => checkCall(agent, definitions, call, signal)));
    const problems = checked.flat();
    // A server that is not called for want of a secret is a problem already, and would be the same one here.
    const isComplete = problems.length === 0 && calls.length === callsOf(definition).length;
    if (!isComplete || definitions.filter(isListed).length < 2) return problems;
    const found = await checkListing(agent, definitions, signal);
    return typeof found === "string" ? [{ kind: "tool", field: "tools", message: found }] : [];
  };

  return async (agent, definition, timeoutMs) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const { runtime, model, fallback_models } = definition;
    const calls = callsOf(definition);
    const secrets = await checkSecrets(agent, calls);
    // A call that may not carry its secrets is not made.
    const callable = calls.filter(({ field }) => !secrets.some((problem) => problem.field === field));
    if (runtime.type === "http") {
      const remote = callable[0];
      const message = remote ? await checkReachable(agent, remote.template, signal) : null;
      return message === null ? secrets : [...secrets, { kind: "runtime", field: "runtime", message }];
    }
    const refs = [model, ...fallback_models];
    const fieldOf = (index: number) => (index === 0 ? "model" : `fallback_models.${index - 1}`);
    const models: AgentProblem[] = [];
    for (const [index, ref] of refs.entries())
      models.push(...(await checkModel(agent.organisationId, ref, fieldOf(index))));
    return [
      ...checkLimits(definition),
      ...toolRules.check(definition),
      ...secrets,
      ...models,
      ...(await checkTools(agent, definition, callable, signal)),
    ];
  };
}
