import { writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";

/**
 * Repeats the current step of `perch dev` while it lasts. It is a thread that writes by itself, because the database
 * starts inside the process and blocks its event loop for seconds.
 */
let lasting: NodeJS.Timeout | undefined;

parentPort?.on("message", (text: string) => {
  clearInterval(lasting);
  const startedAt = performance.now();
  lasting = setInterval(() => {
    try {
      writeSync(2, `… ${text}: ${Math.round((performance.now() - startedAt) / 1000)} s\n`);
    } catch {
      // The reader is gone, or too slow.
    }
  }, 1000);
});
