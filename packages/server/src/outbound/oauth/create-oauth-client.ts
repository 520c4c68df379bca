import type { ResolveCall } from "../secrets/resolve-call.ts";
import { authorizationUrl, checkCallback, newConsentSecrets } from "./authorization-request.ts";
import { createDiscoverConfiguration } from "./discover-configuration.ts";
import { createDiscoverServer } from "./discover-server.ts";
import { createLimitedFetch } from "./limited-fetch.ts";
import type { OAuthClient } from "./oauth-client.ts";
import { createFindProtectedResource } from "./protected-resource.ts";
import { createRevoke } from "./revoke-token.ts";
import { createTokenRequests } from "./token-requests.ts";

interface OAuthClientDeps {
  /** The guarded client: organisations name the addresses. */
  readonly fetch: typeof globalThis.fetch;
  readonly resolveCall: ResolveCall;
  /** Without it, no user can consent. */
  readonly publicUrl: string | undefined;
  readonly now: () => number;
  readonly version: string;
}

export function createOAuthClient({ fetch, resolveCall, publicUrl, now, version }: OAuthClientDeps): OAuthClient {
  const { limitedFetch, fetchHeaders } = createLimitedFetch({ fetch, version });
  const servers = createDiscoverServer({ limitedFetch, now });
  const findProtectedResource = createFindProtectedResource({ limitedFetch, fetchHeaders, now });
  return {
    discoverConfiguration: createDiscoverConfiguration({
      limitedFetch,
      servers,
      findProtectedResource,
      publicUrl,
      now,
    }),
    authorizationUrl,
    newConsentSecrets,
    checkCallback,
    ...createTokenRequests({ limitedFetch, resolveCall, now }),
    revoke: createRevoke({ limitedFetch, resolveCall }),
  };
}
