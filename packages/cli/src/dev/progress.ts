import { extname } from "node:path";
import { Worker } from "node:worker_threads";

export interface Progress {
  /** Begins a step, which ends the one before. */
  readonly show: (text: string) => void;
  readonly end: () => Promise<void>;
}

/** Prints each step of the start, and repeats it while it lasts, so that the user sees that it does not hang. */
export function createProgress(print: (text: string) => void): Progress {
  const thread = new Worker(new URL(`./progress-thread${extname(import.meta.filename)}`, import.meta.url));
  // It is not worth a failure of the command.
  thread.on("error", () => {});
  return {
    show: (text) => {
      print(text);
      thread.postMessage(text);
    },
    end: async () => void (await thread.terminate()),
  };
}
