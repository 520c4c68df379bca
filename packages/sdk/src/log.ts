import { type Failure, withoutKeys } from "./failure.ts";

/** The levels of the client's log. `debug` has every attempt and every retry, `info` only the retries. */
export type LogLevel = "off" | "info" | "debug";

/** The facts about an attempt. Never a body, a query or a key. */
export interface LogFields {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  /** The HTTP status; undefined if there was no response. */
  readonly status?: number | undefined;
  /** Code of the error, if the attempt failed. */
  readonly code?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly runId?: string | undefined;
  /** How long the attempt took. */
  readonly durationMs?: number | undefined;
  /** How long the client waits before it tries again. */
  readonly waitMs?: number | undefined;
}

/** The target of the client's log. `console` is one. */
export interface Logger {
  debug(message: string, fields: LogFields): void;
  info(message: string, fields: LogFields): void;
}

/** The outcome of an attempt: a response, or an error. */
export type Outcome = Pick<Failure, "method" | "url" | "status" | "correlationId"> & {
  readonly code?: string;
  readonly runId?: string | undefined;
};

/** The log of a client. */
export interface Log {
  readonly attempt: (outcome: Outcome, durationMs: number) => void;
  readonly retry: (outcome: Outcome, waitMs: number) => void;
}

/**
 * One line on stderr, so that a program's output stays as it is. The codes come from the server, so none may move the
 * cursor.
 */
const toStderr = (message: string, fields: LogFields): void => {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const line = [`perch: ${message}`, ...given.map(([name, value]) => `${name}=${value}`)].join(" ");
  console.error(line.replaceAll(/[^\x20-\x7e]/g, "?"));
};

function fieldsOf({ method, url, status, code, correlationId, runId }: Outcome): LogFields {
  const path = url && withoutKeys(new URL(url).pathname);
  return { method, path, status, code, correlationId, runId };
}

/** The caller's own logger gets everything unless a level is given, because it can filter by itself. */
export function createLog(logger: Logger | undefined, level: string | undefined = logger ? "debug" : "off"): Log {
  // As people write it in an environment: PERCH_LOG=DEBUG.
  const wanted = level.trim().toLowerCase();
  const isDebug = wanted === "debug";
  const target: Logger = logger ?? { debug: toStderr, info: toStderr };
  return {
    attempt: (outcome, durationMs) => {
      if (!isDebug) return;
      target.debug(outcome.code === undefined ? "response" : "request failed", {
        ...fieldsOf(outcome),
        durationMs: Math.round(durationMs),
      });
    },
    retry: (outcome, waitMs) => {
      if (isDebug || wanted === "info") target.info("will retry", { ...fieldsOf(outcome), waitMs });
    },
  };
}
