import type { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { parseClientCertHeader } from "../auth/certificate-rules.ts";
import type { Client } from "../auth/client.ts";
import { createAddressMatcher } from "../auth/transport-rules.ts";
import { isOfSandboxedPage } from "./cors.ts";

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : undefined;

const maxCertificates = 1000;

declare module "fastify" {
  interface FastifyRequest {
    /** Null until it is first asked for. */
    client: Client | null;
  }
}

type CertificateOf = (request: FastifyRequest) => X509Certificate | undefined;

/** Reads the request only when asked: most requests need nothing of it. */
class RequestClient implements Client {
  readonly #request: FastifyRequest;
  readonly #certificateOf: CertificateOf;

  constructor(request: FastifyRequest, certificateOf: CertificateOf) {
    this.#request = request;
    this.#certificateOf = certificateOf;
  }

  get address(): string {
    return this.#request.ip;
  }

  get isHttps(): boolean {
    return this.#request.protocol === "https";
  }

  get isSandboxedPage(): boolean {
    return isOfSandboxedPage(this.#request);
  }

  get certificate(): Client["certificate"] {
    return () => this.#certificateOf(this.#request);
  }

  get userToken(): string | undefined {
    return textOf(this.#request.headers["x-user-token"]);
  }

  get mfaCode(): string | undefined {
    return textOf(this.#request.headers["x-mfa-code"]);
  }
}

/** Headers that describe the client are trusted only from trusted proxies: anyone else could forge them. */
export function createClientOf(
  app: FastifyInstance,
  trustedProxies: readonly string[],
): (request: FastifyRequest) => Client {
  app.decorateRequest("client", null);
  const isProxy = createAddressMatcher(trustedProxies);

  // Clients reuse their certificate, and parsing and verifying it is the most expensive part of a request.
  const forwardedCertificates = new LRUCache<string, X509Certificate>({ max: maxCertificates });
  const connectionCertificates = new WeakMap<TLSSocket, X509Certificate>();

  const certificateOf: CertificateOf = ({ raw, headers }) => {
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
    request.client ??= new RequestClient(request, certificateOf);
    return request.client;
  };
}
