import type { Invocation } from "@perch/sdk";

export type Request = Pick<
  Invocation,
  "message" | "user_id" | "session_id" | "environment" | "version" | "deployment_id"
>;

export interface Context {
  readonly user_id?: string;
  readonly session_id?: string;
  readonly environment?: string;
  readonly version?: string;
}

/** The context of the message. A version that was not deployed was requested by name. */
export function contextOf(run: Omit<Request, "message">, withSession = true): Context {
  return {
    ...(run.user_id !== null && { user_id: run.user_id }),
    ...(withSession && run.session_id !== null && { session_id: run.session_id }),
    ...(run.environment !== "production" && { environment: run.environment }),
    ...(run.version !== null && run.deployment_id === null && { version: run.version }),
  };
}
