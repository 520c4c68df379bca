import { newIdempotencyKey } from "../client.ts";
import { AgentsMethods } from "../generated-resources.ts";
import type { InvocationResult, InvokeAgent } from "../generated-schemas.ts";
import type { RequestOptions } from "../options.ts";
import { RunStream } from "../run-stream.ts";
import { sleep } from "../time-limits.ts";

const invoke = "POST /v1/agents/{agent_id}/invoke";

/** Between two looks at a run that is not over. */
const pauseMs = 250;

/** Agents, and their runs. */
export class Agents extends AgentsMethods {
  /**
   * Invoke agent: runs it and waits for its answer, however long that takes. A connection that breaks, or a wait that is over, is taken up again with the same
   * `Idempotency-Key`: the agent runs once. Needs the permission `write`.
   *
   * `POST /v1/agents/{agent_id}/invoke`
   *
   * @throws RunFailedError if the agent ran and failed.
   */
  async invoke(agentId: string, body: InvokeAgent, options: RequestOptions = {}): Promise<InvocationResult> {
    const { timeoutMs = this.client.settings.timeoutMs } = options;
    // Shorter than the limit of a try: the server says that the run goes on before we would stop listening.
    const waitSeconds = Math.max(1, Math.floor((timeoutMs * 0.8) / 1000));
    const repeated = {
      ...options,
      idempotencyKey: options.idempotencyKey ?? newIdempotencyKey(),
      headers: { prefer: `wait=${waitSeconds}`, ...options.headers },
    };
    for (;;) {
      const answer = await this.client.data(invoke, { params: { agent_id: agentId }, body }, repeated);
      if ("response" in answer) return answer;
      await sleep(pauseMs, options.signal);
    }
  }

  /**
   * Runs an agent and tells what it says while it says it. Nothing is sent before you read the stream.
   *
   * `POST /v1/agents/{agent_id}/invoke` with `Accept: text/event-stream`
   */
  invokeStream(agentId: string, body: InvokeAgent, options: RequestOptions = {}): RunStream {
    return new RunStream({
      open: this.client.stream(invoke, { params: { agent_id: agentId }, body }, options),
      maxRetries: options.maxRetries ?? this.client.settings.maxRetries,
      signal: options.signal,
    });
  }

  /**
   * Starts a run and does not wait for it. `request_id` leads to it: `invocations.get`, or `invocations.follow`.
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
}
