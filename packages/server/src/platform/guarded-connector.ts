import { promises as dns, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { type AddressGuard, RefusedAddressError } from "./address-guard.ts";

/** Resolves a name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const systemResolve: Resolve = (hostname) => dns.lookup(hostname, { all: true });

/**
 * Connects only to addresses that the guard allows. The name is resolved once, and the socket gets the checked address,
 * which defeats DNS rebinding.
 */
export function guardedConnector(guard: AddressGuard, resolve: Resolve = systemResolve): buildConnector.connector {
  // HTTP/1.1 only: ending an exchange then ends its connection, and one connection carries one exchange.
  const connect = buildConnector({ allowH2: false, lookup: guardedLookup(guard, resolve) });
  return (options, callback) => {
    // node:net skips the lookup for IP literals, and undici uses its own if the Host header differs from one.
    if (isIP(options.hostname) !== 0 && !guard(options.hostname)) {
      callback(RefusedAddressError.private(options.hostname), null);
    } else {
      connect(options, callback);
    }
  };
}

function guardedLookup(guard: AddressGuard, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(hostname, options, guard, resolve).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

async function resolveChecked(hostname: string, { family }: LookupOptions, guard: AddressGuard, resolve: Resolve) {
  const all = await resolve(hostname);
  // One private address among public ones is refused as well: an attacker may hope that it is the one chosen.
  if (!all.every(({ address }) => guard(address))) throw RefusedAddressError.private(hostname);
  const [first, ...others] = all.filter((found) => (family === 4 || family === 6 ? found.family === family : true));
  if (!first) throw new Error(`${hostname} has no address`);
  return [first, ...others] as const;
}
