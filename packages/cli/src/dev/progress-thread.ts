import { writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";

/**
 * Repeats what `perch dev` is doing while it lasts. It is a thread that writes by itself, because the database starts inside the
 * process and holds up its event loop for seconds.
 */
let lasting: NodeJS.Timeout | undefined;

parentPort?.on("message", (text: string) => {
  clearInterval(lasting);
  const startedAt = performance.now();
  lasting = setInterval(() => {
    try {
      writeSync(2, `… ${text}: ${Math.round((performance.now() - startedAt) / 1000)} s\n`);
    } catch {
      // Nobody reads it, or not fast enough.
    }
  }, 1000);
});
