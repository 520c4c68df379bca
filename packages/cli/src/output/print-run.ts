import type { RunStream } from "@perch/sdk";
import type { Terminal } from "../terminal.ts";

/**
 * The text of a run as it comes. A token may replace what stood after its offset, when a step was tried again; what is printed
 * cannot be taken back, so then the text begins anew on a line of its own.
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
    } else if (event.type === "done") {
      // The answer is the last word: a stream that expired tells the end alone.
      if (event.response !== printed) {
        newLine();
        terminal.write(event.response);
        printed = event.response;
      }
      if (!printed.endsWith("\n")) terminal.line();
    }
  }
}
