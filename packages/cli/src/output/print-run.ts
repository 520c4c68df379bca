import type { RunStream } from "@perch/sdk";
import type { Terminal } from "../terminal.ts";

/**
 * Prints the text of a run as it arrives. When a step is retried, a token may replace text that is already printed: then the text is
 * printed again on a new line.
 */
export async function printRun(terminal: Terminal, stream: RunStream): Promise<void> {
  let printed = "";
  let step = 0;
  const newLine = () => {
    if (printed !== "" && !printed.endsWith("\n")) terminal.line();
    printed = "";
  };
  for await (const event of stream) {
    if (event.type === "token") {
      if (event.step !== step) newLine();
      step = event.step;
      if (!event.snapshot.startsWith(printed)) {
        newLine();
        terminal.note(terminal.style("dim", "(tried again)"));
      }
      terminal.write(event.snapshot.slice(printed.length));
      printed = event.snapshot;
    } else if (event.type === "tool") {
      newLine();
      terminal.note(terminal.style("dim", `[${event.name} ${event.status}]`));
    } else if (event.type === "dropped") {
      newLine();
      terminal.note(terminal.style("dim", event.message));
    } else if (event.type === "done") {
      // The response is authoritative: a stream that has expired contains only the end.
      if (event.response !== printed) {
        newLine();
        terminal.write(event.response);
        printed = event.response;
      }
      if (!printed.endsWith("\n")) terminal.line();
    }
  }
}
