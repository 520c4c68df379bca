import { createFindIssuer } from "../auth/oauth-issuer.ts";
import { createOpenIdClient } from "../auth/openid-client.ts";
import type { OrganisationChanges } from "../cache/organisation-changes.ts";
import { createTrustedClient } from "../outbound/guarded-client.ts";
import { ApiError } from "../platform/api-error.ts";
import { parsePublicId } from "../platform/ids.ts";
import { createListOrganisations, type PeopleSource } from "../resources/console-sessions/people.ts";
import { createRecheckPerson, type RecheckPerson } from "../resources/console-sessions/recheck-person.ts";
import { createPersonSignIn } from "../resources/console-sessions/sign-in-person.ts";
import type { Core } from "./core.ts";

const toUuid = (organisation: string): string => {
  const id = parsePublicId("organisation", organisation);
  if (id === undefined) throw new Error(`${organisation} is no id of an organisation`);
  return id;
};

/** The issuer belongs to no organisation. Requests without a session are limited by their address, and rechecks by their session. */
const withoutShare = { hold: <T>(_: string, work: () => Promise<T>): Promise<T> => work() };

/** The operator's OpenID Connect issuer; undefined if there is none. */
function composePeople({ config, nowMs, keys }: Core): {
  readonly source: PeopleSource | undefined;
  readonly close: () => Promise<void>;
} {
  const { oidc, publicUrl } = config;
  if (!oidc) return { source: undefined, close: async () => undefined };
  // The operator names the issuer, so its address may be a private one.
  const { fetch, close } = createTrustedClient({ maxResponseBytes: 512 * 1024, timeoutMs: 5000 });
  const client = createOpenIdClient({
    settings: {
      issuer: oidc.issuer,
      clientId: oidc.client_id,
      clientSecret: oidc.client_secret,
      scopes: oidc.scopes,
      groupsClaim: oidc.groups_claim,
      redirectUri: `${publicUrl}/console/oidc/callback`,
    },
    findIssuer: createFindIssuer({ fetch, now: nowMs, share: withoutShare }),
    fetch,
    now: nowMs,
  });
  const mappings = oidc.groups.map(({ group, organisation, role, approve = false }) => ({
    group,
    organisationId: toUuid(organisation),
    role,
    mayApprove: approve,
  }));
  const { issuer, name, groups_claim: groupsClaim } = oidc;
  return { source: { client, issuer, name, groupsClaim, mappings, sealer: keys.personTokens }, close };
}

const noIssuer: RecheckPerson = async () => {
  throw new ApiError(
    "unauthorized",
    "People do not sign in to this server any more: it has no issuer (PERCH_OIDC). Sign in with an API key.",
  );
};

/** Everything about people that the API needs. */
export function composePeopleSignIn(core: Core, changes: OrganisationChanges) {
  const { db, logger, nowMs, telemetry, keys } = core;
  const { sessionDigest, signInStates } = keys;
  const { source, close } = composePeople(core);
  const now = () => new Date(nowMs());
  const listOrganisations = createListOrganisations(db, source);
  if (!source) return { source, close, listOrganisations, signIn: undefined, recheck: noIssuer };
  return {
    source,
    close,
    listOrganisations,
    signIn: createPersonSignIn({
      ...{ db, changes, sessionDigest, source, logger, now },
      stateSealer: signInStates,
      onSignIn: telemetry.signedIn,
    }),
    recheck: createRecheckPerson({ db, changes, source, logger, now: nowMs, onChecked: telemetry.personChecked }),
  };
}
