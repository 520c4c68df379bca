import type { X509Certificate } from "node:crypto";

/** From where and how a request came, as far as we can trust it. */
export interface Client {
  /** The address; behind trusted proxies, what they say. */
  readonly address: string;
  readonly isHttps: boolean;
  /** The certificate whose key the client has proven to hold, to us or to a trusted proxy. Read when somebody asks. */
  readonly certificate: () => X509Certificate | undefined;
  /** What came in `X-User-Token`. */
  readonly userToken: string | undefined;
  /** What came in `X-MFA-Code`: a code, a recovery code, or a step-up token. */
  readonly mfaCode: string | undefined;
}
