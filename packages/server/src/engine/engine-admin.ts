import { healthChecks, startOrCorrect } from "../platform/health-checks.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { reasonOfFailedCall } from "../platform/reason-of-failed-call.ts";

/** An address at which the engine calls workers, as it knows it. */
export interface EngineDeployment {
  readonly id: string;
  readonly uri: string;
  readonly createdAt: Date;
  /** The version of the server that registered it last. Versions before 0.2.0 did not report theirs. */
  readonly version: string | undefined;
  /** Names of the services for which it takes new invocations. */
  readonly current: readonly string[];
}

/** The engine's admin port. Every call asks node after node, and throws the last node's failure if none agrees. */
export interface EngineAdmin {
  readonly listDeployments: () => Promise<EngineDeployment[]>;
  /** How many invocations are bound to each deployment or are being executed there, by its id. */
  readonly countBound: () => Promise<ReadonlyMap<string, number>>;
  /** How many invocations that have not ended are in each state of the engine. */
  readonly countByStatus: () => Promise<ReadonlyMap<string, number>>;
  /** Makes the engine send new invocations to this address, even if it knows the address already. */
  readonly register: (uri: string, version: string) => Promise<void>;
  /** Gives a deployment another address, with all that is bound to it. */
  readonly move: (id: string, uri: string) => Promise<void>;
  /** Ends an invocation at once, whatever its journal contains. */
  readonly kill: (invocationId: string) => Promise<void>;
  /** Makes the engine forget an address, without a check for runs bound to it. */
  readonly remove: (id: string) => Promise<void>;
}

interface RawDeployment {
  readonly id: string;
  readonly uri?: string;
  readonly created_at: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The engine asks a worker for its services before it answers to a registration. */
const registrationLimitMs = 5000;

export type CallAdmin = (method: string, path: string, body?: unknown) => Promise<unknown>;

export const createCallAdmin =
  (adminUrls: readonly string[], limitMs: number): CallAdmin =>
  async (method, path, body) => {
    let failure: unknown;
    for (const url of adminUrls) {
      try {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { accept: "application/json", "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(limitMs),
        });
        const text = await response.text();
        if (response.ok) return text === "" ? undefined : JSON.parse(text);
        failure = new OperatorError(`The engine at ${url} answers ${response.status}: ${text.slice(0, 500)}`);
      } catch (error) {
        failure = new OperatorError(
          `The engine does not answer at ${url} (${reasonOfFailedCall(error)}). ${startOrCorrect(healthChecks.engineAdmin.setting)}`,
        );
      }
    }
    throw failure;
  };

export function createEngineAdmin(adminUrls: readonly string[], limitMs = registrationLimitMs): EngineAdmin {
  const call = createCallAdmin(adminUrls, limitMs);
  return {
    listDeployments: async () => {
      const [{ deployments }, { services }] = (await Promise.all([
        call("GET", "/deployments"),
        call("GET", "/services"),
      ])) as [
        { deployments: readonly RawDeployment[] },
        { services: readonly { name: string; deployment_id: string }[] },
      ];
      return deployments.map(({ id, uri = "", created_at, metadata }) => ({
        id,
        uri,
        createdAt: new Date(created_at),
        version: metadata?.version,
        current: services.filter(({ deployment_id }) => deployment_id === id).map(({ name }) => name),
      }));
    },
    countBound: async () => {
      // The first step of a run is executed before anything of it is journaled, and only a journal entry binds the run.
      const query =
        "select id, count(*) as runs from (select case when pinned_deployment_id is not null then pinned_deployment_id " +
        "when status = 'running' then last_attempt_deployment_id end as id from sys_invocation " +
        "where status <> 'completed') as bound where id is not null group by id";
      const { rows } = (await call("POST", "/query", { query })) as { rows: readonly { id: string; runs: number }[] };
      return new Map(rows.map(({ id, runs }) => [id, runs]));
    },
    countByStatus: async () => {
      const query =
        "select status, count(*) as invocations from sys_invocation where status <> 'completed' group by status";
      const { rows } = (await call("POST", "/query", { query })) as {
        rows: readonly { status: string; invocations: number }[];
      };
      return new Map(rows.map(({ status, invocations }) => [status, invocations]));
    },
    register: async (uri, version) => {
      await call("POST", "/deployments", { uri, force: true, metadata: { version } });
    },
    move: async (id, uri) => {
      await call("PATCH", `/deployments/${encodeURIComponent(id)}`, { uri });
    },
    kill: async (invocationId) => {
      await call("PATCH", `/invocations/${encodeURIComponent(invocationId)}/kill`);
    },
    remove: async (id) => {
      await call("DELETE", `/deployments/${encodeURIComponent(id)}?force=true`);
    },
  };
}
