import type { X509Certificate } from "node:crypto";

/** The trusted facts about the origin of a request. */
export interface Client {
  /** The client's address; behind trusted proxies, the one they report. */
  readonly address: string;
  readonly isHttps: boolean;
  /** A sandboxed page in a browser: the one at `/docs`, or one of any site. */
  readonly isSandboxedPage: boolean;
  /** The client certificate, verified by us or by a trusted proxy. A function, because parsing it is only sometimes needed. */
  readonly certificate: () => X509Certificate | undefined;
  /** The header `X-User-Token`. */
  readonly userToken: string | undefined;
  /** The header `X-MFA-Code`: a code, a recovery code, or a step-up token. */
  readonly mfaCode: string | undefined;
}
