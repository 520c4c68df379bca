import { agentRuns, agentSessions } from "../../../src/engine/services.ts";

interface OpenInvocation {
  readonly target: string;
  readonly status: string;
  /** Only of an invocation that waits for its time. */
  readonly scheduled_start_at?: string;
  readonly last_failure?: string;
}

/**
 * Invocations that the engine has under way or scheduled in these services. A run that is retried for ever is always
 * among them.
 */
export async function listOpenInvocations(
  adminUrl: string | undefined,
  services: readonly string[] = [agentRuns, agentSessions],
): Promise<OpenInvocation[]> {
  const names = services.map((name) => `'${name}'`).join(", ");
  // Selects all columns, because the engine leaves out the time of a scheduled one if only some are selected.
  const query = `select * from sys_invocation where target_service_name in (${names}) and status <> 'completed'`;
  const response = await fetch(`${adminUrl}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  if (!response.ok) throw new Error(`The engine answers a query with ${response.status}`);
  return ((await response.json()) as { rows: OpenInvocation[] }).rows;
}
