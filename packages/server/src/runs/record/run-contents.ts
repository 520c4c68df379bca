import type { RunInput } from "../../engine/messages.ts";
import type { ModelMessage } from "../../outbound/models/model.ts";
import { toStoredMetadata } from "../../resources/logs/stored-metadata.ts";
import type { LogLine, Progress } from "../run.ts";
import { contentFor, shapeOf } from "./step-contents.ts";

interface CallContents {
  readonly name: string;
  readonly arguments: unknown;
  /** Absent if the run ended before the call had an answer. */
  readonly result?: unknown;
}

/** One answer of the model, and the results of the tools that it called. */
interface ReplyContents {
  readonly text: unknown;
  readonly calls: readonly CallContents[];
}

/** The inputs and outputs of a run's models and tools, each text once. The steps of the run are read from it. */
export interface RunContents {
  readonly instructions?: unknown;
  /** Number of earlier messages of the session that the model saw. */
  readonly history?: number;
  readonly memories?: readonly unknown[];
  readonly message: unknown;
  readonly tools?: unknown;
  readonly replies: readonly ReplyContents[];
}

type Source = Pick<Progress, "session" | "recalled" | "messages" | "toolNames">;

/** Each assistant's message begins a reply; the results of its calls follow it, in their order. */
function repliesOf(messages: readonly ModelMessage[]): ReplyContents[] {
  const replies: { text: string; calls: (CallContents & { result?: unknown })[] }[] = [];
  let answered = 0;
  for (const message of messages) {
    if (message.role === "assistant") {
      const calls = (message.toolCalls ?? []).map(({ name, arguments: input }) => ({ name, arguments: input }));
      replies.push({ text: message.content, calls });
      answered = 0;
    }
    const call = message.role === "tool" ? replies.at(-1)?.calls[answered++] : undefined;
    if (call) call.result = (message as { readonly content: string }).content;
  }
  return replies;
}

/** All of it, uncut. A remote agent gets neither instructions nor tools. */
export function contentsOf({ definition, message }: RunInput, progress: Source): RunContents {
  const { session, recalled = [], messages, toolNames = [] } = progress;
  const isRemote = definition.runtime.type === "http";
  return {
    ...(!isRemote && definition.instructions && { instructions: definition.instructions }),
    ...(session.history.length > 0 && { history: session.history.length }),
    ...(recalled.length > 0 && { memories: recalled.map(({ content }) => content) }),
    message,
    ...(toolNames.length > 0 && { tools: toolNames }),
    replies: repliesOf(messages),
  };
}

/** The limit for one run, as JSON in UTF-8. */
export const maxRunContentBytes = 1024 * 1024;
export const leftOut = `[left out: the contents of the run are larger than ${maxRunContentBytes / 1024} KiB]`;

/** As it is kept: long texts are cut, and when the run's share is used up, a mark stands for each that follows. */
export function truncateContents({ message, tools, history, ...contents }: RunContents): RunContents {
  let left = maxRunContentBytes;
  const truncate = (value: unknown): unknown => {
    const whole = contentFor("full", value);
    const bytes = Buffer.byteLength(JSON.stringify(whole) ?? "");
    left -= bytes;
    return left < 0 ? leftOut : whole;
  };
  return {
    message: truncate(message),
    ...(contents.instructions !== undefined && { instructions: truncate(contents.instructions) }),
    ...(history !== undefined && { history }),
    ...(contents.memories && { memories: contents.memories.map(truncate) }),
    ...(tools !== undefined && { tools: truncate(tools) }),
    replies: contents.replies.map(({ text, calls }) => ({
      text: truncate(text),
      calls: calls.map(({ name, arguments: input, result }) => ({
        name,
        arguments: truncate(input),
        ...(result !== undefined && { result: truncate(result) }),
      })),
    })),
  };
}

/** Which step a log line is about, by its metadata. */
export interface StepRef {
  readonly kind: "model" | "tool" | "tools" | "memory";
  readonly step: number;
  readonly call: number | null;
  readonly isSuccess: boolean;
}

interface StepContents {
  readonly input?: unknown;
  readonly output?: unknown;
}

function ofModel({ replies, ...first }: RunContents, { step, isSuccess }: StepRef): StepContents {
  const results = replies[step - 2]?.calls.map(({ name, result = null }) => ({ name, result }));
  const reply = isSuccess ? replies[step - 1] : undefined;
  return {
    input: step === 1 ? first : results && { tool_results: results },
    ...(reply && {
      output: {
        text: reply.text,
        ...(reply.calls.length > 0 && {
          tool_calls: reply.calls.map(({ name, arguments: input }) => ({ name, arguments: input })),
        }),
      },
    }),
  };
}

function ofCall({ replies }: RunContents, { step, call, isSuccess }: StepRef, isLast: boolean): StepContents {
  const found = replies[step - 1]?.calls[(call ?? 0) - 1];
  return { input: found?.arguments, ...((isSuccess || isLast) && { output: found?.result }) };
}

/** The input and output of one attempt of a step: no output if it failed and another attempt followed. */
function contentsOfStep(contents: RunContents, ref: StepRef, isLastAttempt: boolean): StepContents {
  if (ref.kind === "model") return ofModel(contents, ref);
  if (ref.kind === "tool") return ofCall(contents, ref, isLastAttempt);
  if (ref.kind === "memory") return { input: contents.message, output: contents.memories };
  return ref.isSuccess ? { output: contents.tools } : {};
}

const kinds = { model_call: "model", tool_call: "tool", tools: "tools", memory: "memory" } as const;
type LineType = keyof typeof kinds;
const isStepType = (type: unknown): type is LineType => typeof type === "string" && Object.hasOwn(kinds, type);

const numberOr = <T>(value: unknown, fallback: T): number | T => (typeof value === "number" ? value : fallback);

/** The step that a line of the log is about; undefined if it is about something else. */
export function stepOf(metadata: Readonly<Record<string, unknown>>): StepRef | undefined {
  const { type, kind, step, call, failed } = metadata;
  const isInterrupted = type === "interrupted";
  const found = isInterrupted ? Object.values(kinds).find((each) => each === kind) : isStepType(type) && kinds[type];
  if (!found) return undefined;
  return {
    kind: found,
    step: numberOr(step, 0),
    call: found === "tool" ? numberOr(call, null) : null,
    isSuccess: !isInterrupted && failed !== true,
  };
}

const isLastAttempt = ({ type, retry_after_ms }: Readonly<Record<string, unknown>>): boolean =>
  type !== "interrupted" && retry_after_ms === undefined;

/** The input and output of one line's step. */
export function contentsOfLine(contents: RunContents, metadata: LogLine["metadata"]): StepContents {
  const ref = stepOf(metadata);
  return ref ? contentsOfStep(contents, ref, isLastAttempt(metadata)) : {};
}

/** How many messages came before the first model call is a size already. The arguments of a tool may be anything, also null. */
const shapeOfInput = (input: unknown, { type }: LogLine["metadata"], { history }: RunContents): unknown => {
  const shape = shapeOf(input);
  const hasHistory = type === "model_call" && (input as Partial<RunContents>).history !== undefined;
  return hasHistory ? { ...(shape as object), history } : shape;
};

/** Adds the shapes of inputs and outputs to the lines of a run's model and tool calls. The other lines need none. */
export function withShapes(lines: readonly LogLine[], contents: RunContents): LogLine[] {
  return lines.map((line) => {
    if (line.metadata.type !== "model_call" && line.metadata.type !== "tool_call") return line;
    const { input, output } = contentsOfLine(contents, line.metadata);
    return {
      ...line,
      metadata: toStoredMetadata({
        ...line.metadata,
        ...(input !== undefined && { input: shapeOfInput(input, line.metadata, contents) }),
        ...(output !== undefined && { output: shapeOf(output) }),
      }),
    };
  });
}
