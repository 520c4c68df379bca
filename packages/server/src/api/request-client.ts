import type { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { parseClientCertHeader } from "../auth/certificate-rules.ts";
import type { Client } from "../auth/client.ts";
import { createAddressMatcher } from "../auth/transport-rules.ts";

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : undefined;

const maxCertificates = 1000;

/** Headers that describe the client are trusted only from trusted proxies: anyone else could forge them. */
export function createClientOf(trustedProxies: readonly string[]): (request: FastifyRequest) => Client {
  const isProxy = createAddressMatcher(trustedProxies);
  const clients = new WeakMap<FastifyRequest, Client>();

  // Clients reuse their certificate, and parsing and verifying it is the most expensive part of a request.
  const forwardedCertificates = new LRUCache<string, X509Certificate>({ max: maxCertificates });
  const connectionCertificates = new WeakMap<TLSSocket, X509Certificate>();

  const certificateOf = ({ raw, headers }: FastifyRequest): X509Certificate | undefined => {
    const { socket } = raw;
    // Behind a proxy the connection's own certificate is the proxy's, not the client's.
    if (isProxy(socket.remoteAddress ?? "")) {
      const header = textOf(headers["client-cert"]);
      if (header === undefined) return undefined;
      const certificate = forwardedCertificates.get(header) ?? parseClientCertHeader(header);
      if (certificate) forwardedCertificates.set(header, certificate);
      return certificate;
    }
    if (!(socket instanceof TLSSocket)) return undefined;
    const certificate = connectionCertificates.get(socket) ?? socket.getPeerX509Certificate();
    if (certificate) connectionCertificates.set(socket, certificate);
    return certificate;
  };

  return (request) => {
    const cached = clients.get(request);
    if (cached) return cached;
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
