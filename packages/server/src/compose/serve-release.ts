import { findActiveTurn, markRegistered } from "../db/releases.ts";
import { drainRelease } from "../engine/drain-release.ts";
import { createEngineAdmin } from "../engine/engine-admin.ts";
import { type Endpoint, serveEndpoint } from "../engine/serve-endpoint.ts";
import { keepRegistered, type WorkerRegistration } from "../engine/worker-registration.ts";
import { version } from "../platform/version.ts";
import type { Core } from "./core.ts";

type EndpointOptions = Parameters<typeof serveEndpoint>[0];

interface ServedRelease {
  readonly endpoint: Endpoint;
  readonly registration: WorkerRegistration;
  /** Resolves when this process may stop: no run is left that only its release can continue. */
  readonly drain: () => Promise<void>;
}

/** Serves the workflows of this release to the engine, and registers them there while the release is the active one. */
export async function serveRelease(
  core: Core,
  { services, runOneStep }: Pick<EndpointOptions, "services" | "runOneStep">,
  onRegistered: () => void,
): Promise<ServedRelease> {
  const { config, logger, telemetry, db } = core;
  const { workerHost: host, workerPort: port, identityKeys, release } = config;
  let registration: WorkerRegistration | undefined;
  const describe = () => {
    const turn = registration?.turn();
    return { version, release, turn: turn ?? null, takes_new_runs: turn !== undefined };
  };
  const endpoint = await serveEndpoint({ services, identityKeys, host, port, release, describe, logger, runOneStep });
  core.outbound.ownAddresses.add({ host, port: endpoint.port });
  telemetry.watchRuns(endpoint.countRuns);
  const workerUrl = config.workerUrl ?? `http://${host}:${endpoint.port}`;
  const admin = createEngineAdmin(config.adminUrls);
  const findTurn = () => findActiveTurn(db.unscoped);
  const serviceNames = services.map(({ name }) => name);
  const turns = { findActiveTurn: findTurn, markRegistered: (turn: number) => markRegistered(db.unscoped, turn) };
  const registered = { admin, workerUrl, release, version, serviceNames, logger, ...turns };
  registration = keepRegistered({ ...registered, onRegistered });
  telemetry.watchRegistration(registration);
  await registration.settled;
  const { isSuperseded } = registration;
  /** If the database does not answer, the last look counts. */
  const isActive = (): Promise<boolean> =>
    findTurn().then(
      (active) => active === undefined || active.release === release,
      () => !isSuperseded(),
    );
  const drain = async (): Promise<void> => {
    if (config.drainSeconds === 0 || (await isActive())) return;
    const signal = AbortSignal.timeout(config.drainSeconds * 1000);
    await drainRelease({ admin, workerUrl, release, endpoint, logger, signal });
  };
  return { endpoint, registration, drain };
}
