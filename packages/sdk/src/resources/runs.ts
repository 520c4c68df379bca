import type { Client } from "../client.ts";
import { StillRunningError } from "../errors.ts";
import type { Source } from "../follow.ts";
import { RunsMethods } from "../generated-resources.ts";
import type { InvocationResult } from "../generated-schemas.ts";
import type { FollowRunOptions, RequestOptions, WaitRunOptions } from "../options.ts";
import { RunStream } from "../run-stream.ts";
import { startTimeLimit } from "../time-limits.ts";

/** The event stream of a run, by its id. */
export const runSource = (client: Client, agentId: string, runId: string, options: RequestOptions): Source =>
  client.stream(
    "GET /v1/agents/{agent_id}/invocations/{request_id}",
    { params: { agent_id: agentId, request_id: runId } },
    options,
  );

export function followRun(client: Client, agentId: string, runId: string, options: FollowRunOptions): RunStream {
  const { lastEventId, waitForDecision } = options;
  const source = runSource(client, agentId, runId, options);
  return new RunStream(source, { runId, lastEventId, waitForDecision, continued: () => source });
}

/** Runs of an agent. */
export class Runs extends RunsMethods {
  /**
   * Streams the events of a run from its start, or after `lastEventId`. `result()` waits for its result.
   *
   * `GET /v1/agents/{agent_id}/invocations/{request_id}` with `Accept: text/event-stream`
   */
  follow(agentId: string, runId: string, options: FollowRunOptions = {}): RunStream {
    return followRun(this.client, agentId, runId, options);
  }

  /**
   * Waits until a run has ended, and returns the same as `agents.invoke`. It needs no polling: it reads the run's event stream.
   *
   * `GET /v1/agents/{agent_id}/invocations/{request_id}` with `Accept: text/event-stream`
   *
   * @throws RunFailedError if the run failed, and RunCancelledError if it was cancelled.
   * @throws ActionRequiredError if it waits for a person, unless `waitForDecision` is set: then it waits for as long as that takes.
   * @throws StillRunningError after `timeoutSeconds`, which is not limited unless set. The run goes on.
   */
  async wait(agentId: string, runId: string, options: WaitRunOptions = {}): Promise<InvocationResult> {
    const { timeoutSeconds = Number.POSITIVE_INFINITY, ...others } = options;
    const limit = startTimeLimit(timeoutSeconds * 1000, options.signal);
    try {
      return await this.follow(agentId, runId, { ...others, signal: limit.signal }).result();
    } catch (error) {
      if (!limit.timedOut()) throw error;
      const path = `/v1/agents/${encodeURIComponent(agentId)}/invocations/${encodeURIComponent(runId)}`;
      throw new StillRunningError({
        method: "GET",
        url: this.client.settings.baseUrl + path,
        code: "still_running",
        message: `The run has not ended after ${timeoutSeconds} s, and goes on.`,
        details: [{ field: "request_id", error: runId }],
      });
    } finally {
      limit.stop();
    }
  }
}
