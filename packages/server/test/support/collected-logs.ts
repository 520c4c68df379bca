import { Writable } from "node:stream";
import { pino } from "pino";
import type { Logger } from "../../src/platform/logger.ts";

/** A logger of everything, and all that it has logged so far. */
export function collectLogs(): { readonly logger: Logger; readonly logged: () => string } {
  let text = "";
  const sink = new Writable({
    write: (chunk, _, done) => {
      text += String(chunk);
      done();
    },
  });
  return { logger: pino({ level: "trace" }, sink), logged: () => text };
}
