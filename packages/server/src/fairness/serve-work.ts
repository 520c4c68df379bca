import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";

/**
 * Lower than what answers requests, which needs the processor for a millisecond at a time. Linux takes 0 for the calling
 * thread; elsewhere it is the whole process.
 */
const leaveProcessorToOthers = (): void => {
  if (process.platform === "linux") setPriority(0, 10);
};

/** The thread's side of `work-thread.ts`: answers one request after the other. */
export function serveWork<Request, Response>(answer: (request: Request) => Response): void {
  leaveProcessorToOthers();
  parentPort?.on("message", (request: Request) => parentPort?.postMessage(answer(request)));
  parentPort?.postMessage("ready");
}
