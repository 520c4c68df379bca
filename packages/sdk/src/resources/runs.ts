import { RunsMethods } from "../generated-resources.ts";
import type { RequestOptions } from "../options.ts";
import { RunStream } from "../run-stream.ts";

/** Runs of an agent. */
export class Runs extends RunsMethods {
  /**
   * Streams the events of a run from its start. `result()` waits for its result.
   *
   * `GET /v1/agents/{agent_id}/invocations/{request_id}` with `Accept: text/event-stream`
   */
  follow(agentId: string, runId: string, options: RequestOptions = {}): RunStream {
    const params = { agent_id: agentId, request_id: runId };
    const source = this.client.stream("GET /v1/agents/{agent_id}/invocations/{request_id}", { params }, options);
    return new RunStream(source, runId);
  }
}
