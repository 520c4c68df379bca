import { promises as dns } from "node:dns";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { isPublic, isWithin, type OwnAddresses, parseAddress, parseRange } from "./address-guard.ts";

/** A port of this installation: of the engine, the database, Valkey, the API, a worker. */
export interface OwnEndpoint {
  /** A name or an address. */
  readonly host: string;
  /** "every": all ports of the host, unless it is this machine, which may have tools beside the installation. */
  readonly port: number | "every";
  /** Behind a public address may be the sites of others too: it counts by its name only. */
  readonly mayShareAddress?: true;
}

export interface ListeningAddresses extends OwnAddresses {
  /** An address that this process listens on, once its port is known. */
  readonly add: (endpoint: OwnEndpoint) => void;
}

interface OwnAddressesOptions {
  readonly resolve?: (name: string) => Promise<readonly { readonly address: string }[]>;
  readonly now?: () => number;
  readonly interfaceAddresses?: () => readonly string[];
}

type Address = NonNullable<ReturnType<typeof parseAddress>>;

/** Metadata services of clouds, which give credentials to any client inside. */
const metadataRanges = [
  "169.254.0.0/16",
  "fe80::a9fe:a9fe",
  "fd00:ec2::/32",
  "fd20:ce::254",
  "fd00:42::42",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
].map(parseRange);
const metadataNames = new Set(["metadata.google.internal", "metadata.goog"]);

/** Prefixes behind which a translator or a tunnel reaches IPv4 addresses, and where in the address those are. */
const embeddings = [
  { range: parseRange("64:ff9b::/96"), at: 12 },
  { range: parseRange("64:ff9b:1::/48"), at: 12 },
  { range: parseRange("::ffff:0:0:0/96"), at: 12 },
  { range: parseRange("::/96"), at: 12 },
  { range: parseRange("2002::/16"), at: 2 },
];

/** An address in all its meanings: 64:ff9b::7f00:1 is also 127.0.0.1. */
function meaningsOf(address: Address): readonly Address[] {
  const found = embeddings.filter(({ range }) => isWithin(address, range));
  const bytes = address.toByteArray();
  return [address, ...found.map(({ at }) => ipaddr.fromByteArray(bytes.slice(at, at + 4)))];
}

const isLoopback = (address: Address): boolean =>
  // Connecting to the unspecified address reaches the machine itself.
  address.range() === "loopback" || address.range() === "unspecified";

const normaliseName = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
const keyOf = (address: Address, port: number): string => `${address.toNormalizedString()} ${port}`;

const systemInterfaces = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

const freshMs = 10_000;
/** A name may give some of its addresses at a time, and new ones after a restart: those it gave before count for a while. */
const rememberedMs = 600_000;
const maxResolveMs = 2_000;

interface Host {
  readonly ports: Set<number>;
  /** Those at which a public address may belong to others too. */
  readonly sharedPorts: Set<number>;
  hasEveryPort: boolean;
  /** When each address was last given. Empty until the name was resolved for the first time. */
  readonly seenAt: Map<string, number>;
  resolving: Promise<void> | undefined;
}

/** The hosts of the installation by name, with the addresses that their names have. */
function createHosts({ resolve, now }: Required<Pick<OwnAddressesOptions, "resolve" | "now">>) {
  const hosts = new Map<string, Host>();
  const resolveHost = async (name: string, host: Host): Promise<void> => {
    const found = await resolve(name).catch(() => []);
    host.resolving = undefined;
    const at = now();
    for (const { address } of found) host.seenAt.set(address, at);
    for (const [address, seenAt] of host.seenAt)
      if (found.length > 0 && at - seenAt > rememberedMs) host.seenAt.delete(address);
  };
  return {
    add: ({ host, port, mayShareAddress }: OwnEndpoint): void => {
      const name = normaliseName(host);
      const known: Host = hosts.get(name) ?? {
        ports: new Set(),
        sharedPorts: new Set(),
        hasEveryPort: false,
        seenAt: new Map(),
        resolving: undefined,
      };
      if (port === "every") known.hasEveryPort = true;
      else (mayShareAddress ? known.sharedPorts : known.ports).add(port);
      hosts.set(name, known);
    },
    hasPort: (name: string, port: number): boolean => {
      const host = hosts.get(name);
      return host !== undefined && (host.ports.has(port) || host.sharedPorts.has(port));
    },
    /** Does not wait for a look-up that hangs, and does not begin it again before it has ended. */
    resolveAll: async (): Promise<void> => {
      const lookups = [...hosts]
        .filter(([name]) => parseAddress(name) === undefined)
        .map(([name, host]) => (host.resolving ??= resolveHost(name, host)));
      if (lookups.length === 0) return;
      await Promise.race([Promise.all(lookups), sleep(maxResolveMs, undefined, { ref: false })]);
    },
    addresses: () =>
      [...hosts].map(([name, host]) => {
        const texts = parseAddress(name) ? [name] : [...host.seenAt.keys()];
        return { ...host, addresses: texts.flatMap((text) => parseAddress(text) ?? []) };
      }),
  };
}

/** The current addresses of the hosts, for quick checks. */
function takeSnapshot(hosts: ReturnType<typeof createHosts>, interfaces: readonly string[]) {
  const ofMachine = new Set(interfaces.flatMap((text) => parseAddress(text)?.toNormalizedString() ?? []));
  const isLocal = (address: Address) => isLoopback(address) || ofMachine.has(address.toNormalizedString());
  const keys = new Set<string>();
  // A service of this machine may listen at all addresses of the machine.
  const localPorts = new Set<number>();
  // Ports of hosts whose address is unknown. No private address is reached at these ports.
  const unknownPorts = new Set<number>();
  const wholeHosts = new Set<string>();
  const addAddresses = (addresses: readonly Address[], port: number) => {
    if (addresses.some(isLocal)) localPorts.add(port);
    for (const address of addresses) keys.add(keyOf(address, port));
  };
  for (const { ports, sharedPorts, hasEveryPort, addresses } of hosts.addresses()) {
    for (const port of ports) {
      if (addresses.length === 0) unknownPorts.add(port);
      addAddresses(addresses, port);
    }
    const unshared = addresses.filter((address) => isLocal(address) || !isPublic(address));
    for (const port of sharedPorts) addAddresses(unshared, port);
    if (!hasEveryPort) continue;
    for (const address of addresses) if (!isLocal(address)) wholeHosts.add(address.toNormalizedString());
  }
  return (address: Address, port: number): boolean =>
    keys.has(keyOf(address, port)) ||
    wholeHosts.has(address.toNormalizedString()) ||
    (localPorts.has(port) && isLocal(address)) ||
    (unknownPorts.has(port) && !isPublic(address));
}

export function createOwnAddresses(
  endpoints: readonly OwnEndpoint[],
  {
    resolve = (name) => dns.lookup(name, { all: true }),
    now = () => performance.now(),
    interfaceAddresses = systemInterfaces,
  }: OwnAddressesOptions = {},
): ListeningAddresses {
  const hosts = createHosts({ resolve, now });
  for (const endpoint of endpoints) hosts.add(endpoint);
  let isOwn = takeSnapshot(hosts, interfaceAddresses());
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | undefined;
  const refreshNow = async (): Promise<void> => {
    await hosts.resolveAll();
    isOwn = takeSnapshot(hosts, interfaceAddresses());
    refreshedAt = now();
    refreshing = undefined;
  };
  return {
    add: (endpoint) => {
      hosts.add(endpoint);
      isOwn = takeSnapshot(hosts, interfaceAddresses());
      refreshedAt = Number.NEGATIVE_INFINITY;
    },
    refresh: async () => {
      if (now() - refreshedAt < freshMs) return;
      refreshing ??= refreshNow();
      await refreshing;
    },
    includes: (host, port) => {
      const name = normaliseName(host);
      const address = parseAddress(name);
      if (!address) return metadataNames.has(name) || hosts.hasPort(name, port);
      return meaningsOf(address).some(
        (one) => metadataRanges.some((range) => isWithin(one, range)) || isOwn(one, port),
      );
    },
  };
}
