import type { RequirementTable } from "./requirement.ts";

const governs = "Whether these settings govern the REST API itself: not shown.";

export const security = {
  "security.grace-period": {
    section: "Authentication",
    silent: "What happens to a caller who sets `auth` and has no token: not shown.",
    decision:
      "The answer has `warnings`: what is refused from now on and until when. For one hour the key that set it where there was none can read and update that agent without a token, and nothing else; it ends when `auth` is changed with a token.",
  },
  "security.oauth-shape": {
    section: "Authentication",
    given:
      "OAuth 2.0: `auth.type` = oauth2, `auth.provider`, `auth.clientId`, `auth.clientSecret`, `auth.scopes` (array, such as read:agents, write:agents).",
  },
  "security.jwt-signature": {
    section: "Authentication",
    given: "JWT: HS256 signature; claims user_id, exp, iat; a lifetime of one hour.",
  },
  "security.jwt-rejected": {
    section: "Authentication",
    given: "An expired or invalid token is rejected as unauthorized.",
  },
  "security.ip-allow-list-shape": {
    section: "Authentication",
    given:
      "`security.ipWhitelist.enabled` (boolean), `security.ipWhitelist.addresses` (array of IP addresses or CIDR ranges).",
  },
  "security.mtls-shape": {
    section: "Authentication",
    given: "`security.mtls.enabled` (boolean), with clientCert, clientKey, caCert (file paths).",
  },
  "security.enforce-https-shape": {
    section: "Authentication",
    given: "`security.enforceHttps` (boolean).",
  },
  "security.hsts-shape": {
    section: "Authentication",
    given: "`security.hsts.enabled` (boolean), `security.hsts.maxAge` (integer, seconds).",
  },
  "security.rate-limit-shape": {
    section: "Authentication",
    given: "`security.rateLimit.enabled` (boolean), with requests (integer) and window (a duration such as 1m).",
  },
  "security.mfa-shape": {
    section: "Authentication",
    silent: "How multi-factor authentication is written in an agent's settings: not shown.",
    decision: "`security.mfa.enabled` (boolean), `security.mfa.operations` (array of delete, update).",
  },
  "security.mfa-enforced": {
    section: "Authentication",
    given: "Multi-factor authentication can be enabled per agent and required for named operations (delete, update).",
  },
  "security.mfa-lock-out": {
    section: "Authentication",
    silent: "What a wrong code does: not shown.",
    decision: "A code counts once. Five wrong ones in a row lock the second factor for 15 minutes.",
  },
  "security.mfa-recovery-codes": {
    section: "Authentication",
    silent: "What happens to a user who loses the device: not shown.",
    decision: "Ten recovery codes are given at enrolment; each stands in for a code, once.",
  },
  "security.mfa-step-up": {
    section: "Authentication",
    silent: "How a script passes the second factor: not shown.",
    decision: "A code buys a step-up token, which counts as a code for the same key for ten minutes.",
  },
  "security.govern-rest-api": {
    section: "Authentication",
    silent: governs,
    decision:
      "They do: an agent's settings for the paths of that agent, the instance's settings for all paths. They only tighten.",
  },
  "security.user-token": {
    section: "Authentication",
    silent: "Where a JWT or an OAuth token travels, and whether it stands in for the API key: not shown.",
    decision:
      "In the header `X-User-Token`, beside the API key, which every request needs. The token names the user and can only take permissions away.",
  },
  "security.oauth-enforced": {
    section: "Authentication",
    silent: governs,
    decision: "With OAuth set, a token of the provider with the right scope is needed on the paths it governs.",
  },
  "security.ip-allow-list-enforced": {
    section: "Authentication",
    silent: governs,
    decision: "With the allow-list enabled, a request from an address outside it is refused on the paths it governs.",
  },
  "security.mtls-enforced": {
    section: "Authentication",
    silent: governs,
    decision: "With mutual TLS enabled, a request without an accepted client certificate is refused.",
  },
  "security.https-enforced": {
    section: "Authentication",
    silent: governs,
    decision:
      "Without enforceHttps, a request over plain HTTP is answered like any other. With it, the request is 403 `forbidden` on the paths it governs, and never redirected.",
  },
  "security.hsts-enforced": {
    section: "Authentication",
    silent: governs,
    decision:
      "With hsts enabled, answers over HTTPS carry `Strict-Transport-Security` with the given maxAge. Answers over plain HTTP do not.",
  },
  "security.master-key-rotation": {
    section: "Authentication",
    silent: "How secrets are kept: not shown.",
    decision:
      "Encrypted with data keys, which the master key encrypts. `perch-server rotate-master-key` changes it while servers run; no request fails, and it can be repeated.",
  },
  "security.signed-calls": {
    section: "Authentication",
    silent: "How a tool or a remote agent can tell that a call is from Perch: not shown.",
    decision:
      "Every request to a tool, an MCP server or a remote agent carries an HTTP message signature (RFC 9421, Ed25519) over method, target, content digest, the run's id, the organisation and the agent that call (`Perch-Organisation`, `Perch-Agent`) and the directory of keys, valid for five minutes, with a nonce of its own. Model providers and webhooks get none.",
  },
  "security.signing-keys-listed": {
    section: "Authentication",
    silent: "How receivers learn the keys: not shown.",
    decision:
      "`/.well-known/http-message-signatures-directory` lists the public keys as a JWK Set, for everybody, also those that begin to sign later.",
  },
  "security.signing-key-rotation": {
    section: "Authentication",
    silent: "How the keys are changed: not shown.",
    decision:
      "`perch-server rotate-signing-key` lists a new key at once, signs with it after the overlap, and lists the old one for as long again. A receiver that reads the directory once in its max-age knows every key in time. `--revoke` replaces a leaked key at once.",
  },
  "security.signing-keys-sealed": {
    section: "Authentication",
    silent: "How the private keys are kept: not shown.",
    decision:
      "Sealed under a data key and bound to their id. They are in no answer, no log and no other row, and a planted or exchanged one is not used.",
  },
  "security.calls-carry-trace": {
    section: "Authentication",
    silent: "Whether a tool's or a remote agent's own spans can join the trace: not shown.",
    decision:
      "Calls of a traced run carry `traceparent` with the span of that very call as the parent. Calls of other runs carry none.",
  },
  "security.no-lock-out": {
    section: "Authentication",
    silent: "Whether settings can lock out the caller who sets them: not shown.",
    decision: "Settings that would refuse the very request that sets them are 409 `conflict`, unless `force` is true.",
  },
  "security.rate-limit-enforced": {
    section: "Authentication",
    silent: governs,
    decision: "With rateLimit enabled, more requests in a window than given are refused with 429 `rate_limited`.",
  },
  "security.calls-verified": {
    section: "Authentication",
    silent: "How a tool or a remote agent checks that a call is from Perch: not shown.",
    decision:
      "`verifyRequest` and `verify_request` of the SDKs pass what Perch sent to this origin, as it was sent, within its time and once, and nothing else; with `organisation`, of that organisation's agents only. Both judge a shared table of requests alike.",
  },
} as const satisfies RequirementTable;
