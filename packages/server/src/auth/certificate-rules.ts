import { X509Certificate } from "node:crypto";

/** Reads the CA certificates of a file, by the name that settings use; empty if there is no such file. */
export type ReadAuthorities = (caCert: string) => readonly X509Certificate[];

const clientAuthentication = "1.3.6.1.5.5.7.3.2";

const isValidAt = ({ validFromDate, validToDate }: X509Certificate, now: Date) =>
  validFromDate <= now && now <= validToDate;

const issuedCache = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

/** Cached for as long as both certificates live: a signature does not change. */
function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  const cachedByAuthority = issuedCache.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
  issuedCache.set(certificate, cachedByAuthority);
  const cached = cachedByAuthority.get(authority);
  if (cached !== undefined) return cached;
  const isIssued = certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
  cachedByAuthority.set(authority, isIssued);
  return isIssued;
}

/** Issued by one of the authorities, valid now, and usable by clients. Intermediates must be in the CA file: no chain is built. */
export function isAcceptedCertificate(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  now: Date,
): boolean {
  if (!isValidAt(certificate, now)) return false;
  // Node's `keyUsage` holds the extended usages; a certificate without any may be used for all.
  const usages = certificate.keyUsage as readonly string[] | undefined;
  if (usages && usages.length > 0 && !usages.includes(clientAuthentication)) return false;
  return authorities.some(
    (authority) => authority.ca && isValidAt(authority, now) && isIssuedBy(certificate, authority),
  );
}

/** All certificates of a PEM file. */
export const parseCertificates = (pem: string): X509Certificate[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g)].map(
    ([text]) => new X509Certificate(text),
  );

/** The header `Client-Cert` (RFC 9440): the certificate in DER, base64 between colons. Undefined for anything else. */
export function parseClientCertHeader(header: string): X509Certificate | undefined {
  const base64 = header.match(/^:([A-Za-z0-9+/]{1,12000}={0,2}):$/)?.[1];
  if (base64 === undefined) return undefined;
  try {
    return new X509Certificate(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}
