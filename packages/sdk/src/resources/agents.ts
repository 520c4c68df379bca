import { newIdempotencyKey } from "../client.ts";
import { AgentsMethods } from "../generated-resources.ts";
import type { InvocationResult, InvokeAgent } from "../generated-schemas.ts";
import type { RequestOptions, RunOptions } from "../options.ts";
import { RunStream, waitingError } from "../run-stream.ts";
import { sleep } from "../time-limits.ts";
import { followRun, runSource } from "./runs.ts";

const invoke = "POST /v1/agents/{agent_id}/invoke";

/** Delay between two requests for a run that has not ended. */
const pollIntervalMs = 250;

/** The server ignores a longer `Prefer: wait`. */
const maxWaitSeconds = 9999;

/** Agents, and their runs. */
export class Agents extends AgentsMethods {
  /**
   * Invoke agent: runs the agent and waits for its response, however long that takes. If the connection breaks, the request is repeated with the same
   * `Idempotency-Key`, so that the agent runs once. Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/invoke`
   *
   * @throws RunFailedError if the run failed.
   * @throws ActionRequiredError if it waits for a person, unless `waitForDecision` is set: then it waits for as long as that takes.
   */
  async invoke(agentId: string, body: InvokeAgent, options: RunOptions = {}): Promise<InvocationResult> {
    const { timeoutSeconds = this.client.settings.timeoutSeconds } = options;
    // Shorter than the timeout of an attempt, so that the server answers 202 before we give up.
    const waitSeconds = Math.max(1, Math.min(Math.floor(timeoutSeconds * 0.8), maxWaitSeconds));
    const repeated = {
      ...options,
      idempotencyKey: options.idempotencyKey ?? newIdempotencyKey(),
      headers: { prefer: `wait=${waitSeconds}`, ...options.headers },
    };
    for (;;) {
      const answer = await this.client.data(invoke, { params: { agent_id: agentId }, body }, repeated);
      if ("response" in answer) return answer;
      if (answer.status === "waiting") {
        // Waits by the run's id, because the wait can outlast the `Idempotency-Key`, and the same request would then
        // start another run.
        if (options.waitForDecision) return followRun(this.client, agentId, answer.request_id, options).result();
        throw waitingError(this.#originOf(agentId, repeated), answer.request_id, answer.approvals ?? []);
      }
      await sleep(pollIntervalMs, options.signal);
    }
  }

  /**
   * Runs an agent and streams its events. No request is made before you read the stream.
   *
   * `POST /v1/agents/{agent_id}/invoke` with `Accept: text/event-stream`
   */
  invokeStream(agentId: string, body: InvokeAgent, options: RunOptions = {}): RunStream {
    const source = this.client.stream(invoke, { params: { agent_id: agentId }, body }, options);
    const continued = (runId: string) => runSource(this.client, agentId, runId, options);
    return new RunStream(source, { waitForDecision: options.waitForDecision, continued });
  }

  /**
   * Starts a run in the background. Pass the `request_id` to `runs.get` or `runs.follow`.
   *
   * `POST /v1/agents/{agent_id}/invoke` with `Prefer: respond-async`
   */
  async invokeInBackground(
    agentId: string,
    body: InvokeAgent,
    options: RequestOptions = {},
  ): Promise<{ readonly request_id: string }> {
    const headers = { prefer: "respond-async", ...options.headers };
    const { request_id } = await this.client.data(
      invoke,
      { params: { agent_id: agentId }, body },
      { ...options, headers },
    );
    return { request_id };
  }

  #originOf(agentId: string, { idempotencyKey }: RequestOptions) {
    const url = `${this.client.settings.baseUrl}/v1/agents/${encodeURIComponent(agentId)}/invoke`;
    return { method: "POST", url, idempotencyKey, message: "The run waits for a person." };
  }
}
