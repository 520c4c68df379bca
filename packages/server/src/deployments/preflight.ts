import { PermanentModelError } from "../models/model.ts";
import type { FindModel } from "../providers/find-model.ts";
import { PassingToolError, PermanentToolError } from "../tools/call-tool.ts";
import type { Tools } from "../tools/create-tools.ts";
import type { Definition } from "./version-rules.ts";

interface PreflightDeps {
  readonly findModel: FindModel;
  readonly tools: Tools;
  /** For addresses that a tenant gave. */
  readonly fetch: typeof globalThis.fetch;
}

/** What is wrong with a definition, in words for its maker; null when nothing is. */
export type Preflight = (organisationId: string, definition: Definition) => Promise<string | null>;

const limitMs = 20_000;

/** Limits that cannot be meant. */
export function insaneLimits({ model, fallback_models, tools, limits, runtime }: Definition): string | null {
  if (runtime.type === "http") return null;
  if (tools.length > 0 && limits.max_steps < 2)
    return "The agent has tools, but limits.max_steps is 1: it could call one and never use the result. Allow 2 or more.";
  const models = [model, ...fallback_models];
  const twice = models.find((ref, i) => models.indexOf(ref) !== i);
  return twice ? `fallback_models names ${twice} twice: a model that failed would be its own fallback.` : null;
}

export function createPreflight({ findModel, tools, fetch }: PreflightDeps): Preflight {
  /** Any HTTP answer is an answer: what it says to a question without content does not matter. */
  const answers = async (what: string, url: string, signal: AbortSignal): Promise<string | null> => {
    try {
      const response = await fetch(url, { method: "OPTIONS", signal });
      await response.body?.cancel();
      return null;
    } catch (error) {
      const reason =
        error instanceof Error && error.name === "RefusedAddressError" ? error.message : "It could not be reached.";
      return `${what} at ${new URL(url).host} does not answer. ${reason}`;
    }
  };

  const missingModel = async (
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

  const missingTool = async ({ tools: given }: Definition, signal: AbortSignal): Promise<string | null> => {
    for (const tool of given)
      if (tool.type === "http") {
        const problem = await answers(`The tool ${tool.name}`, tool.url, signal);
        if (problem) return problem;
      }
    try {
      await tools.list(given, signal);
      return null;
    } catch (error) {
      if (error instanceof PermanentToolError || error instanceof PassingToolError) return error.message;
      throw error;
    }
  };

  return async (organisationId, definition) => {
    const signal = AbortSignal.timeout(limitMs);
    const { runtime } = definition;
    if (runtime.type === "http") return answers("The remote agent", runtime.url, signal);
    return (
      insaneLimits(definition) ??
      (await missingModel(organisationId, definition)) ??
      (await missingTool(definition, signal))
    );
  };
}
