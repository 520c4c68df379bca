import { type Logger as PinoLogger, pino } from "pino";

export type Logger = PinoLogger;
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** JSON lines on standard error: standard output is for the output of commands. */
export const createLogger = (level: LogLevel): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: ["headers.authorization", "*.headers.authorization", "key", "*.key", "secret", "*.secret"],
    },
    pino.destination({ fd: 2, sync: false }),
  );
