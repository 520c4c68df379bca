import { createFindIssuer, type Issuer } from "../../auth/oauth-issuer.ts";
import type { UsableSettings } from "../../config/config.ts";
import type { OpenIdIssuer } from "../../config/sign-in-settings.ts";
import { createTrustedClient } from "../../outbound/guarded-client.ts";
import { ApiError } from "../../platform/api-error.ts";
import { healthChecks } from "../../platform/health-checks.ts";
import { reasonOfFailedCall } from "../../platform/reason-of-failed-call.ts";
import { beginCheck, type Check, failed, limitMs, ok, type Result, unreadable, warning } from "./check.ts";

/** Compares the issuer's metadata with the needs of sign-in. */
function judgeIssuer({ server }: Issuer, { issuer, scopes, groups }: OpenIdIssuer): Result {
  if (!server.authorization_endpoint || !server.token_endpoint)
    return failed(
      `${issuer} has no endpoints to sign people in. Correct \`issuer\` in PERCH_OIDC: another one may be meant.`,
    );
  const methods = server.code_challenge_methods_supported;
  if (methods && !methods.includes("S256"))
    return failed(`${issuer} does not offer PKCE with S256, which Perch always uses. Allow it for this client.`);
  const unknown = scopes.filter((scope) => server.scopes_supported?.includes(scope) === false);
  if (unknown.length > 0)
    return warning(
      `${issuer} does not list the scopes ${unknown.join(", ")} and may refuse to sign people in. Remove them from \`scopes\` in PERCH_OIDC, or add them at the issuer.`,
    );
  return ok(`${issuer} answers; ${groups.length} ${groups.length === 1 ? "group is" : "groups are"} mapped`);
}

const explain = (error: unknown, issuer: string): string =>
  `${issuer} does not answer as an OpenID Connect issuer (${reasonOfFailedCall(error instanceof ApiError ? error.cause : error)}). ${healthChecks.signIn.advice}`;

export function checkSignIn(settings: UsableSettings): Check {
  const { oidc } = settings;
  return beginCheck(
    "signIn",
    async () => {
      if (!("oidc" in settings)) return unreadable("signIn");
      if (oidc === undefined) return ok("PERCH_OIDC is not set: the console is for holders of API keys");
      const client = createTrustedClient({ maxResponseBytes: 512 * 1024, timeoutMs: limitMs - 1000 });
      try {
        const share = { hold: <T>(_: string, work: () => Promise<T>) => work() };
        const findIssuer = createFindIssuer({ fetch: client.fetch, now: Date.now, share });
        return judgeIssuer(await findIssuer("operator", oidc.issuer), oidc);
      } finally {
        await client.close();
      }
    },
    (error) => (oidc ? explain(error, oidc.issuer) : undefined),
  );
}
