import type { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { parseClientCertHeader } from "../security/certificate-rules.ts";
import type { Client } from "../security/client.ts";
import { addressList } from "../security/transport-rules.ts";

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : undefined;

const mostCertificates = 1000;

/** Headers about the client count from trusted proxies alone; from anybody else they are what a stranger made up. */
export function createClientOf(trustedProxies: readonly string[]): (request: FastifyRequest) => Client {
  const isProxy = addressList(trustedProxies);
  const clients = new WeakMap<FastifyRequest, Client>();

  // A client asks more than once, with one certificate: to read it and to check its signature costs more than all else.
  const passedOn = new LRUCache<string, X509Certificate>({ max: mostCertificates });
  const ofConnections = new WeakMap<TLSSocket, X509Certificate>();

  const certificateOf = ({ raw, headers }: FastifyRequest): X509Certificate | undefined => {
    const { socket } = raw;
    // Behind a proxy the connection's own certificate is the proxy's, not the client's.
    if (isProxy(socket.remoteAddress ?? "")) {
      const header = textOf(headers["client-cert"]);
      if (header === undefined) return undefined;
      const certificate = passedOn.get(header) ?? parseClientCertHeader(header);
      if (certificate) passedOn.set(header, certificate);
      return certificate;
    }
    if (!(socket instanceof TLSSocket)) return undefined;
    const certificate = ofConnections.get(socket) ?? socket.getPeerX509Certificate();
    if (certificate) ofConnections.set(socket, certificate);
    return certificate;
  };

  return (request) => {
    const known = clients.get(request);
    if (known) return known;
    const client: Client = {
      address: request.ip,
      isHttps: request.protocol === "https",
      certificate: () => certificateOf(request),
      userToken: textOf(request.headers["x-user-token"]),
      mfaCode: textOf(request.headers["x-mfa-code"]),
    };
    clients.set(request, client);
    return client;
  };
}
