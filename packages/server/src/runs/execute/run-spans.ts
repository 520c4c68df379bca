import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { type ModelMessage, PermanentModelError, TransientModelError } from "../../outbound/models/model.ts";
import { echoTool } from "../../outbound/tools/tool.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { TraceParent } from "../../platform/trace-parent.ts";
import { logSettingOf } from "../../resources/agents/log-setting.ts";
import { spanIdOf } from "../../telemetry/trace-context.ts";
import type { EndedSpan, Tracing } from "../../telemetry/tracing.ts";
import type { Attempt, Progress, ToolAttempt } from "../run.ts";
import { messagesFor, modelsOf } from "./run-rules.ts";

/**
 * The spans of a run, named after OpenTelemetry's conventions for generative AI. Their ids come from the run's id and the
 * step's name, so a step that is repeated after its worker was lost is the same span, under the same parent.
 */
export interface RunSpans {
  readonly modelCall: (
    run: RunInput,
    progress: Progress,
    attempt: Attempt,
    call: { readonly startedAtMs: number } & (
      | { readonly tokens: number; readonly output: string }
      | { readonly error: unknown }
    ),
  ) => void;
  readonly toolCall: (
    run: RunInput,
    progress: Progress,
    toolTry: ToolAttempt,
    call: { readonly startedAtMs: number; readonly failed: boolean; readonly output?: string | undefined },
  ) => void;
  readonly ended: (run: RunInput, outcome: RunOutcome) => void;
  /** The parent of a receiver's own spans: the span of this very call. Undefined if the run is not traced. */
  readonly parents: {
    readonly listing: (run: RunInput) => TraceParent | undefined;
    readonly modelCall: (run: RunInput, progress: Progress, attempt: Attempt) => TraceParent | undefined;
    readonly toolCall: (run: RunInput, progress: Progress, toolTry: ToolAttempt) => TraceParent | undefined;
  };
}

interface RunSpansDeps {
  readonly tracing: Tracing;
  readonly now: () => number;
}

type Attributes = EndedSpan["attributes"];
type StepSpan = Pick<EndedSpan, "name" | "kind" | "startMs" | "failed" | "attributes">;
type TracedRun = RunInput & { readonly trace: TraceParent };

const runSpanId = ({ id }: RunInput): string => spanIdOf(id);
const modelSpanId = ({ id }: RunInput, { step }: Progress, { model, tries }: Attempt): string =>
  spanIdOf(id, `model ${step}`, model, tries);
const toolSpanId = ({ id }: RunInput, { step }: Progress, { callNumber, tries }: ToolAttempt): string =>
  spanIdOf(id, `tool ${step}.${callNumber}`, tries);

/** Gemini's name among the conventions' providers; the others are called as we call them. */
const providerName = (name: string): string => (name === "google" ? "gcp.gemini" : name);

/** Span name and attributes of a model call. The address of a remote agent is left out: it may contain a token. */
function modelSpanOf(run: RunInput, modelIndex: number): { readonly name: string; readonly attributes: Attributes } {
  if (run.definition.runtime.type === "http")
    return { name: "invoke_agent remote", attributes: { "gen_ai.operation.name": "invoke_agent" } };
  const [provider = "", ...rest] = (modelsOf(run)[modelIndex] ?? run.definition.model).split("/");
  const model = rest.join("/");
  return {
    name: `chat ${model}`,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerName(provider),
      "gen_ai.request.model": model,
    },
  };
}

const charactersOf = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, { content }) => sum + content.length, 0);

/** Sizes of input and output, unless the agent keeps nothing of its contents. Contents are in no span. */
const sizesOf = ({ definition }: RunInput, inputCharacters: number, output: string | undefined): Attributes =>
  logSettingOf(definition) === "off"
    ? {}
    : { "perch.input.characters": inputCharacters, "perch.output.characters": output?.length };

/** `error.type` as OpenTelemetry's conventions have it. Never the message, which may quote the conversation. */
function errorType(error: unknown): string {
  if (error instanceof PermanentModelError || error instanceof TransientModelError) return error.constructor.name;
  return error instanceof Error && error.name === "TimeoutError" ? "timeout" : "_OTHER";
}

/** A model may invent tool names: only existing ones become attributes. */
const toolName = ({ call, tools }: ToolAttempt): string =>
  [...tools, echoTool].some(({ definition }) => definition.name === call.name) ? call.name : "unknown";

export function createRunSpans({ tracing, now }: RunSpansDeps): RunSpans {
  const isTraced = (run: RunInput): run is TracedRun => tracing.isOn && !!run.trace;

  const addStep = (run: TracedRun, spanId: string, span: StepSpan) =>
    tracing.add({
      ...span,
      traceId: run.trace.traceId,
      spanId,
      parentId: runSpanId(run),
      endMs: now(),
    });

  const parentIn = (run: RunInput, spanId: () => string): TraceParent | undefined =>
    isTraced(run) ? { traceId: run.trace.traceId, parentId: spanId() } : undefined;

  return {
    parents: {
      listing: (run) => parentIn(run, () => runSpanId(run)),
      modelCall: (run, progress, attempt) => parentIn(run, () => modelSpanId(run, progress, attempt)),
      toolCall: (run, progress, toolTry) => parentIn(run, () => toolSpanId(run, progress, toolTry)),
    },

    modelCall: (run, progress, attempt, call) => {
      if (!isTraced(run)) return;
      const { step } = progress;
      const { name, attributes } = modelSpanOf(run, attempt.model);
      const failed = "error" in call;
      addStep(run, modelSpanId(run, progress, attempt), {
        name,
        kind: "client",
        startMs: call.startedAtMs,
        failed,
        attributes: {
          ...attributes,
          "error.type": failed ? errorType(call.error) : undefined,
          "gen_ai.usage.total_tokens": failed ? undefined : call.tokens,
          ...sizesOf(run, charactersOf(messagesFor(run, progress)), failed ? undefined : call.output),
          "perch.step": step,
          "perch.attempt": attempt.tries,
        },
      });
    },

    toolCall: (run, progress, toolTry, { startedAtMs, failed, output }) => {
      if (!isTraced(run)) return;
      const { step } = progress;
      const name = toolName(toolTry);
      addStep(run, toolSpanId(run, progress, toolTry), {
        name: `execute_tool ${name}`,
        kind: "internal",
        startMs: startedAtMs,
        failed,
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": name,
          "error.type": failed ? "tool_error" : undefined,
          ...sizesOf(run, (JSON.stringify(toolTry.call.arguments) ?? "").length, output),
          "perch.step": step,
          "perch.attempt": toolTry.tries,
        },
      });
    },

    ended: (run, { status, steps, tokensUsed }) => {
      if (!isTraced(run)) return;
      const agentId = toPublicId("agent", run.agentId);
      tracing.add({
        ...run.trace,
        spanId: runSpanId(run),
        name: `invoke_agent ${agentId}`,
        kind: "internal",
        startMs: run.acceptedAtMs,
        endMs: now(),
        failed: status === "failed",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.id": agentId,
          "error.type": status === "failed" ? "_OTHER" : undefined,
          "perch.request_id": toPublicId("request", run.id),
          "perch.organisation_id": toPublicId("organisation", run.organisationId),
          "perch.environment": run.environment,
          "perch.version": run.version ?? undefined,
          "perch.status": status,
          "perch.steps": steps,
          "gen_ai.usage.total_tokens": tokensUsed,
        },
      });
    },
  };
}
