import { newIdempotencyKey } from "../client.ts";
import { DeploymentFailedError, type Origin, TimeoutError } from "../errors.ts";
import { DeploymentsMethods } from "../generated-resources.ts";
import type { CreateDeployment, Deployment } from "../generated-schemas.ts";
import type { WaitOptions } from "../options.ts";
import { parseRetryAfter } from "../retry-rules.ts";
import { sleep, startTimeLimit } from "../time-limits.ts";

const create = "POST /v1/agents/{agent_id}/deployments";
const get = "GET /v1/agents/{agent_id}/deployments/{deployment_id}";

/** The checks take up to 20 seconds, and deployments of one environment wait for each other. */
const defaultTimeoutSeconds = 300;
const initialPollMs = 100;
const maxPollMs = 2000;

/** Which version of an agent is live in which environment. */
export class Deployments extends DeploymentsMethods {
  /**
   * Creates a deployment and waits until its checks have passed, so that it is live. A canary is live beside what was live before.
   *
   * `POST /v1/agents/{agent_id}/deployments`, then `GET /v1/agents/{agent_id}/deployments/{deployment_id}`
   *
   * @throws DeploymentFailedError if a check failed, or a guard rolled the deployment back meanwhile.
   * @throws TimeoutError after `timeoutSeconds`, 300 unless set. The deployment goes on. If its creation was not answered, the same call
   * with the error's `idempotencyKey` creates it once.
   */
  async deployAndWait(agentId: string, body: CreateDeployment, options: WaitOptions = {}): Promise<Deployment> {
    const { timeoutSeconds = defaultTimeoutSeconds, ...others } = options;
    const limit = startTimeLimit(timeoutSeconds * 1000, options.signal);
    const { idempotencyKey = newIdempotencyKey() } = options;
    const call = { ...others, idempotencyKey, signal: limit.signal };
    let deployment: Deployment | undefined;
    const url = `${this.client.settings.baseUrl}/v1/agents/${encodeURIComponent(agentId)}/deployments`;
    const originOf = ({ id }: Deployment): Origin => ({ method: "GET", url: `${url}/${id}` });
    try {
      let answer = await this.client.send(create, { params: { agent_id: agentId }, body }, call);
      deployment = answer.body.data;
      const params = { agent_id: agentId, deployment_id: deployment.id };
      for (let pollMs = initialPollMs; deployment.status === "pending"; pollMs = Math.min(pollMs * 1.5, maxPollMs)) {
        const askedSeconds = parseRetryAfter(answer.headers.get("retry-after"), Date.now()) ?? 0;
        await sleep(Math.max(pollMs, askedSeconds * 1000), limit.signal);
        answer = await this.client.send(get, { params }, call);
        deployment = answer.body.data;
      }
    } catch (error) {
      if (!limit.timedOut()) throw error;
      const what = deployment ? `The deployment ${deployment.id} is still pending` : "The deployment was not answered";
      const message = `${what} after ${timeoutSeconds} s.`;
      const origin = deployment ? originOf(deployment) : { method: "POST", url, idempotencyKey };
      throw new TimeoutError({ ...origin, code: "timed_out", message });
    } finally {
      limit.stop();
    }
    if (deployment.status !== "failed" && deployment.status !== "rolled_back") return deployment;
    throw new DeploymentFailedError(deployment, originOf(deployment));
  }
}
