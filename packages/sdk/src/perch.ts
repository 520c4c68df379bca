import { type Client, createClient } from "./client.ts";
import { AccountMethods, Namespaces } from "./generated-resources.ts";
import type { Me } from "./generated-schemas.ts";
import type { OperationKey, RequestArguments, RequestOf, ResponseOf } from "./operation-parts.ts";
import { type PerchOptions, type RequestOptions, readSettings } from "./options.ts";
import { Agents } from "./resources/agents.ts";
import { Deployments } from "./resources/deployments.ts";
import { Events } from "./resources/events.ts";
import { Logs } from "./resources/logs.ts";
import { Runs } from "./resources/runs.ts";
import { Webhooks } from "./resources/webhooks.ts";
import type { ApiResponse } from "./send.ts";

/**
 * A client of Perch. It has no state: create one and share it.
 *
 * @example
 * ```ts
 * const perch = new Perch({ baseUrl: "https://perch.example.com", apiKey: process.env.PERCH_API_KEY });
 * const { response } = await perch.agents.invoke("support-bot", { message: "Where is order 42?" });
 * ```
 */
export class Perch extends Namespaces {
  readonly #client: Client;
  readonly #account: AccountMethods;
  /** Agents, and invoking them. */
  readonly agents: Agents;
  /** Runs of an agent. */
  readonly runs: Runs;
  /** Which version of an agent is live in which environment. */
  readonly deployments: Deployments;
  /** Log entries of an agent. */
  readonly logs: Logs;
  /** URLs that receive events. */
  readonly webhooks: Webhooks;
  /** Events of the organisation. */
  readonly events: Events;

  constructor(options: PerchOptions = {}) {
    const client = createClient(readSettings(options));
    super(client);
    this.#client = client;
    this.#account = new AccountMethods(client);
    this.agents = new Agents(client);
    this.runs = new Runs(client);
    this.deployments = new Deployments(client);
    this.logs = new Logs(client);
    this.webhooks = new Webhooks(client);
    this.events = new Events(client);
  }

  /** The API key of this client and its organisation. `GET /v1/me` */
  me(options?: RequestOptions): Promise<Me> {
    return this.#account.me(options);
  }

  /**
   * Calls any operation by its route. Returns the whole response body, with its envelope.
   *
   * @example
   * ```ts
   * const { data } = await perch.request("GET /v1/agents/{agent_id}", { params: { agent_id: "support-bot" } });
   * ```
   */
  request<K extends OperationKey>(
    key: K,
    ...[request, options]: RequestArguments<K, RequestOptions>
  ): Promise<ResponseOf<K>> {
    return this.#client.request(key, (request ?? {}) as RequestOf<K>, options);
  }

  /** Like `request`, but returns status and headers too. */
  send<K extends OperationKey>(
    key: K,
    ...[request, options]: RequestArguments<K, RequestOptions>
  ): Promise<ApiResponse<ResponseOf<K>>> {
    return this.#client.send(key, (request ?? {}) as RequestOf<K>, options);
  }
}
