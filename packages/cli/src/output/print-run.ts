import type { RunStreamEvent } from "@perch/sdk";
import type { Terminal } from "../terminal.ts";
import { startRunProgress } from "./run-progress.ts";

/** A `RunStream`, as far as it is printed. */
export interface PrintedRun extends AsyncIterable<RunStreamEvent> {
  readonly runId: string | undefined;
}

export type ActionRequired = Extract<RunStreamEvent, { readonly type: "action_required" }>;

interface PrintOptions {
  /** Called when the run waits for a person, before anything waits for it. */
  readonly onActionRequired?: ((event: ActionRequired) => Promise<void>) | undefined;
  /** The conversation that the run belongs to. */
  readonly session?: string | undefined;
}

/**
 * The response on standard output. When a step is retried, a token may replace text that is already printed, which is
 * then printed again.
 */
function createResponsePrinter(terminal: Terminal) {
  let printed = "";
  let step = 0;
  const newLine = () => {
    if (printed !== "" && !printed.endsWith("\n")) terminal.line();
    printed = "";
  };
  const note = (text: string) => {
    newLine();
    terminal.note(terminal.style("dim", text));
  };
  return {
    note,
    newLine,
    isMidLine: () => printed !== "" && !printed.endsWith("\n"),
    token: (event: Extract<RunStreamEvent, { readonly type: "token" }>) => {
      if (event.step !== step) newLine();
      step = event.step;
      if (!event.snapshot.startsWith(printed)) note("(tried again)");
      terminal.write(event.snapshot.slice(printed.length));
      printed = event.snapshot;
    },
    /** The response is authoritative, because a stream that has expired contains only the end. */
    done: (response: string) => {
      if (response !== printed) {
        newLine();
        terminal.write(response);
        printed = response;
      }
      if (!printed.endsWith("\n")) terminal.line();
      printed = "";
    },
  };
}

/** Prints the text of a run as it arrives, and its activity and its waits on standard error. */
export async function printRun(terminal: Terminal, run: PrintedRun, options: PrintOptions = {}): Promise<void> {
  const { session, onActionRequired } = options;
  const startProgress = () => startRunProgress(terminal, { session, isAccepted: () => run.runId !== undefined });
  let progress = startProgress();
  const response = createResponsePrinter(terminal);
  try {
    for await (const event of run) {
      if (event.type === "action_required" && onActionRequired) {
        // Nothing is drawn over a prompt while the user reads and types.
        progress.stop();
        response.newLine();
        await onActionRequired(event);
        progress = startProgress();
      }
      const line = progress.take(event);
      if (line !== undefined) response.note(line);
      else if (event.type === "token") response.token(event);
      else if (event.type === "dropped") response.note(event.message);
      else if (event.type === "done") response.done(event.response);
      progress.setMidLine(terminal.isInteractive && response.isMidLine());
    }
  } finally {
    progress.stop();
    // The next message, such as an error, begins on a line of its own.
    response.newLine();
  }
}
