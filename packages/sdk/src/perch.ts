import { type Client, createClient } from "./client.ts";
import {
  AccountMethods,
  AgentSecretsMethods,
  ApprovalsMethods,
  AuditLogMethods,
  ConnectionsMethods,
  ConsoleSessionsMethods,
  DeliveriesMethods,
  ErasuresMethods,
  InstallationMethods,
  KeysMethods,
  MemoryMethods,
  MetricsMethods,
  MfaMethods,
  ModelsMethods,
  ProvidersMethods,
  SecretsMethods,
  UsersMethods,
  VersionsMethods,
} from "./generated-resources.ts";
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
export class Perch {
  readonly #client: Client;
  readonly #account: AccountMethods;
  /** Agents, and invoking them. */
  readonly agents: Agents;
  /** Runs of an agent. */
  readonly runs: Runs;
  /** What runs wait for: decisions and answers of a person. */
  readonly approvals: ApprovalsMethods;
  /** Accounts that users let an agent use with a tool. */
  readonly connections: ConnectionsMethods;
  /** Which version of an agent is live in which environment. */
  readonly deployments: Deployments;
  /** Immutable snapshots of an agent. */
  readonly versions: VersionsMethods;
  /** Log entries of an agent. */
  readonly logs: Logs;
  /** Metrics of an agent. */
  readonly metrics: MetricsMethods;
  /** Memories of an agent. */
  readonly memory: MemoryMethods;
  /** URLs that receive events. */
  readonly webhooks: Webhooks;
  /** Deliveries of events to a webhook. */
  readonly deliveries: DeliveriesMethods;
  /** Events of the organisation. */
  readonly events: Events;
  /** API keys. */
  readonly keys: KeysMethods;
  /** Changes made by users and operators. */
  readonly auditLog: AuditLogMethods;
  /** Users of the organisation's agents, and erasing what is stored about them. */
  readonly users: UsersMethods;
  /** Erasures of users, with their receipts. */
  readonly erasures: ErasuresMethods;
  /** The second factor of an API key. */
  readonly mfa: MfaMethods;
  /** Sessions of browsers in the console, and links that begin one. */
  readonly consoleSessions: ConsoleSessionsMethods;
  /** Model providers of the organisation. */
  readonly providers: ProvidersMethods;
  /** Models that agents may use. */
  readonly models: ModelsMethods;
  /** Credentials that all agents of the organisation can use. */
  readonly secrets: SecretsMethods;
  /** Credentials that one agent alone can use. */
  readonly agentSecrets: AgentSecretsMethods;

  /** The health of the installation, for operators. */
  readonly installation: InstallationMethods;

  constructor(options: PerchOptions = {}) {
    const client = createClient(readSettings(options));
    this.#client = client;
    this.#account = new AccountMethods(client);
    this.agents = new Agents(client);
    this.runs = new Runs(client);
    this.approvals = new ApprovalsMethods(client);
    this.connections = new ConnectionsMethods(client);
    this.deployments = new Deployments(client);
    this.versions = new VersionsMethods(client);
    this.logs = new Logs(client);
    this.metrics = new MetricsMethods(client);
    this.memory = new MemoryMethods(client);
    this.webhooks = new Webhooks(client);
    this.deliveries = new DeliveriesMethods(client);
    this.events = new Events(client);
    this.keys = new KeysMethods(client);
    this.auditLog = new AuditLogMethods(client);
    this.users = new UsersMethods(client);
    this.erasures = new ErasuresMethods(client);
    this.mfa = new MfaMethods(client);
    this.consoleSessions = new ConsoleSessionsMethods(client);
    this.providers = new ProvidersMethods(client);
    this.models = new ModelsMethods(client);
    this.secrets = new SecretsMethods(client);
    this.agentSecrets = new AgentSecretsMethods(client);
    this.installation = new InstallationMethods(client);
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
