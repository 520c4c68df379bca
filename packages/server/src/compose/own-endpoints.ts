import type { Config } from "../config/config.ts";
import type { OwnEndpoint } from "../outbound/own-addresses.ts";

const defaultPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
  "rediss:": 6379,
};

/** PostgreSQL's addresses may name the host in the query instead, also as the folder of a socket. */
function toEndpoints(address: string | undefined): { readonly host: string; readonly port: number }[] {
  if (address === undefined) return [];
  const { hostname, port, protocol, searchParams } = new URL(address);
  const isDatabase = protocol.startsWith("postgres");
  const host = (isDatabase && searchParams.get("host")) || decodeURIComponent(hostname) || "localhost";
  const given = (isDatabase && searchParams.get("port")) || port;
  return host.startsWith("/") ? [] : [{ host, port: Number(given) || (defaultPorts[protocol] ?? 0) }];
}

/** Host and port of an address, for the log: never its user or password. A socket is its folder. */
export function placeOf(address: string): string {
  const [endpoint] = toEndpoints(address);
  return endpoint ? `${endpoint.host}:${endpoint.port}` : (new URL(address).searchParams.get("host") ?? "");
}

/** Everything that this installation consists of, according to its settings. A port of 0 is known once it is bound. */
export function ownEndpoints(config: Config): readonly OwnEndpoint[] {
  const engine = [...config.ingressUrls, ...config.adminUrls].flatMap(toEndpoints);
  const listening = [
    { host: config.host, port: config.port },
    { host: config.workerHost, port: config.workerPort },
    { host: config.metricsHost, port: config.metricsPort ?? 0 },
  ];
  return [
    ...engine,
    ...engine.flatMap(({ host }) => [...config.engineNodePorts, "every" as const].map((port) => ({ host, port }))),
    ...toEndpoints(config.publicUrl).map((endpoint) => ({ ...endpoint, mayShareAddress: true as const })),
    ...[config.databaseUrl, config.migrationDatabaseUrl, config.valkeyUrl, config.workerUrl, config.otlpUrl].flatMap(
      toEndpoints,
    ),
    ...listening,
  ].filter(({ port }) => port !== 0);
}
