import { type Client, createClient } from "./client.ts";
import {
  AccountMethods,
  AuditLogMethods,
  DeliveriesMethods,
  DeploymentsMethods,
  KeysMethods,
  MemoryMethods,
  MetricsMethods,
  MfaMethods,
  ModelsMethods,
  ProvidersMethods,
  VersionsMethods,
} from "./generated-resources.ts";
import type { Me } from "./generated-schemas.ts";
import type { OperationKey, RequestArguments, RequestOf, ResponseOf } from "./operation-parts.ts";
import { type PerchOptions, type RequestOptions, readSettings } from "./options.ts";
import { Agents } from "./resources/agents.ts";
import { Events } from "./resources/events.ts";
import { Invocations } from "./resources/invocations.ts";
import { Logs } from "./resources/logs.ts";
import { Webhooks } from "./resources/webhooks.ts";
import type { Answer } from "./send.ts";

/**
 * A client of Perch. It keeps no connection and no state: one for a whole program will do.
 *
 * @example
 * ```ts
 * const perch = new Perch({ baseUrl: "https://perch.example.com", apiKey: process.env.PERCH_API_KEY });
 * const { response } = await perch.agents.invoke("support-bot", { message: "Where is order 42?" });
 * ```
 */
export class Perch {
  readonly #client: Client;
  readonly #account: AccountMethods;
  /** Agents, and invoking them. */
  readonly agents: Agents;
  /** Runs of an agent. */
  readonly invocations: Invocations;
  /** Which version of an agent is live where. */
  readonly deployments: DeploymentsMethods;
  /** Immutable snapshots of an agent. */
  readonly versions: VersionsMethods;
  /** What an agent did. */
  readonly logs: Logs;
  /** How well it did. */
  readonly metrics: MetricsMethods;
  /** What an agent remembers. */
  readonly memory: MemoryMethods;
  /** Who is told of events. */
  readonly webhooks: Webhooks;
  /** What became of each delivery to a webhook. */
  readonly deliveries: DeliveriesMethods;
  /** What happened. */
  readonly events: Events;
  /** API keys. */
  readonly keys: KeysMethods;
  /** Who changed what. */
  readonly auditLog: AuditLogMethods;
  /** The second factor of an API key. */
  readonly mfa: MfaMethods;
  /** Providers of models, with the organisation's own keys. */
  readonly providers: ProvidersMethods;
  /** Models that agents may use. */
  readonly models: ModelsMethods;

  constructor(options: PerchOptions = {}) {
    const client = createClient(readSettings(options));
    this.#client = client;
    this.#account = new AccountMethods(client);
    this.agents = new Agents(client);
    this.invocations = new Invocations(client);
    this.deployments = new DeploymentsMethods(client);
    this.versions = new VersionsMethods(client);
    this.logs = new Logs(client);
    this.metrics = new MetricsMethods(client);
    this.memory = new MemoryMethods(client);
    this.webhooks = new Webhooks(client);
    this.deliveries = new DeliveriesMethods(client);
    this.events = new Events(client);
    this.keys = new KeysMethods(client);
    this.auditLog = new AuditLogMethods(client);
    this.mfa = new MfaMethods(client);
    this.providers = new ProvidersMethods(client);
    this.models = new ModelsMethods(client);
  }

  /** What the presented key is and may do. `GET /v1/me` */
  me(options?: RequestOptions): Promise<Me> {
    return this.#account.me(options);
  }

  /**
   * Any operation, by its route. The answer is the whole body, envelope and all.
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

  /** The same with status and headers. */
  send<K extends OperationKey>(
    key: K,
    ...[request, options]: RequestArguments<K, RequestOptions>
  ): Promise<Answer<ResponseOf<K>>> {
    return this.#client.send(key, (request ?? {}) as RequestOf<K>, options);
  }
}
