import { type Logger as PinoLogger, pino } from "pino";

export type Logger = PinoLogger;
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** An error as a log shows it, without the fields in which PostgreSQL quotes texts and JSON of a row. */
export function toLoggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { detail, where, internalQuery, ...rest } = pino.stdSerializers.err(error) as unknown as Record<
    string,
    unknown
  >;
  return rest;
}

/** JSON lines on standard error: standard output is for the output of commands. */
export const createLogger = (level: LogLevel): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: toLoggedError },
      formatters: { level: (label) => ({ level: label }) },
      redact: ["headers.authorization", "*.headers.authorization", "key", "*.key", "secret", "*.secret"],
    },
    pino.destination({ fd: 2, sync: false }),
  );
