import { parentPort } from "node:worker_threads";

/** The thread's side of `work-thread.ts`: answers one request after the other. */
export function serveWork<Request, Response>(answer: (request: Request) => Response): void {
  parentPort?.on("message", (request: Request) => parentPort?.postMessage(answer(request)));
  parentPort?.postMessage("ready");
}
