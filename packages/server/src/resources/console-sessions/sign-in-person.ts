import type { IssuerAnswer } from "../../auth/openid-client.ts";
import { OpenIdFailure } from "../../auth/openid-failure.ts";
import { groupsFromClaims } from "../../auth/person-rules.ts";
import { safeReturnTo } from "../../auth/return-to-rules.ts";
import { openSignInState, type SignInState, sealSignInState } from "../../auth/sign-in-state.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { PublicContext } from "../handlers.ts";
import { listPersonOrganisations, type PeopleSource, readAnswer, sealTokens } from "./people.ts";
import { type SessionDeps, startSession } from "./start-session.ts";

/** The errors that the console's sign-in page explains. Nothing from outside is ever put into its address. */
export type SignInError = "no_organisation" | "denied" | "issuer_unavailable" | "expired" | "invalid";

export class SignInRefusal extends Error {
  readonly code: SignInError;

  constructor(code: SignInError, reason: string) {
    super(reason);
    this.code = code;
  }
}

const codeOf = {
  denied: "denied",
  refused: "denied",
  invalid: "invalid",
  unavailable: "issuer_unavailable",
} as const satisfies Record<OpenIdFailure["kind"], SignInError>;

interface StartRequest {
  readonly correlationId: string;
  readonly returnTo: string | undefined;
  readonly organisation: string | undefined;
  /** The token of the session that the browser has. */
  readonly sessionToken: string | undefined;
}

/** Everything that it throws, unless something is broken, is a `SignInRefusal`. */
export interface PersonSignIn {
  /** The address to send the browser to, and the state that it stores in the meantime. */
  readonly begin: (request: StartRequest) => Promise<{ readonly url: string; readonly sealedState: string }>;
  /** The new session's token, and the page to go to. */
  readonly finish: (
    parameters: URLSearchParams,
    sealedState: string | undefined,
    context: PublicContext,
  ) => Promise<{ readonly token: string; readonly returnTo: string }>;
}

interface PersonSignInDeps extends SessionDeps {
  readonly source: PeopleSource;
  /** Seals the state that a browser stores during a sign-in. */
  readonly stateSealer: Sealer;
  readonly logger: Logger;
  readonly onSignIn: (method: "person", outcome: "succeeded" | "refused" | "unavailable") => void;
}

async function askIssuer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OpenIdFailure) throw new SignInRefusal(codeOf[error.kind], error.message);
    throw error;
  }
}

const requestedOrganisation = (publicId: string | undefined): string | null => {
  if (publicId === undefined) return null;
  const id = parsePublicId("organisation", publicId);
  if (id === undefined) throw new SignInRefusal("no_organisation", "the organisation that was asked for is not an id");
  return id;
};

/** For the operator: which of the usual mistakes it is. */
function whyNowhere(
  { claims }: IssuerAnswer,
  groups: ReadonlySet<string>,
  organisations: number,
  { groupsClaim }: PeopleSource,
): string {
  if (!groupsFromClaims(claims, groupsClaim)) return `the issuer sent no claim ${groupsClaim} for this person`;
  if (groups.size === 0) return "none of the person's groups is in PERCH_OIDC";
  return organisations === 0
    ? "the organisations that PERCH_OIDC has for the person's groups do not exist"
    : "no group of the person leads to the organisation that was asked for";
}

async function finishSignIn(
  deps: PersonSignInDeps,
  parameters: URLSearchParams,
  state: SignInState,
  context: PublicContext,
): Promise<string> {
  const { db, source, now } = deps;
  const answer = await askIssuer(() => source.client.finish(parameters, state.secrets));
  const found = readAnswer(answer, source);
  if (!found) throw new SignInRefusal("invalid", "the issuer's answer has no usable subject");
  const { person, groups } = found;
  const organisations = await listPersonOrganisations(db, groups, source.mappings);
  const chosen = organisations.find(({ id }) => state.organisationId === null || id === state.organisationId);
  if (!chosen) throw new SignInRefusal("no_organisation", whyNowhere(answer, groups, organisations.length, source));
  const [organisationId, sessionId] = [chosen.id, newUuid()];
  const owner = {
    ...person,
    issuer: source.issuer,
    role: chosen.role,
    mayApprove: chosen.mayApprove,
    groups: [...groups],
    checkedAt: now(),
    sealedRefreshToken: sealTokens(source.sealer, { organisationId, sessionId }, answer.tokens),
  };
  const browser = { ...context.browser, sessionToken: () => state.replacedToken ?? undefined };
  const started = await startSession(
    deps,
    { organisationId, owner, notAfter: null, sessionId },
    { ...context, browser },
  );
  if (!started) throw new SignInRefusal("invalid", "the session could not be started");
  return started.token;
}

/** Signs people in by the operator's OpenID Connect issuer. */
export function createPersonSignIn(deps: PersonSignInDeps): PersonSignIn {
  const { source, stateSealer, logger, onSignIn, now } = deps;

  const reporting = async <T>(correlationId: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof SignInRefusal && error.code === "issuer_unavailable";
      onSignIn("person", isAway ? "unavailable" : "refused");
      if (error instanceof SignInRefusal)
        logger.warn({ correlationId, code: error.code, reason: error.message }, "sign-in of a person refused");
      throw error;
    }
  };

  return {
    begin: ({ correlationId, returnTo, organisation, sessionToken }) =>
      reporting(correlationId, async () => {
        const organisationId = requestedOrganisation(organisation);
        const { url, secrets } = await askIssuer(source.client.begin);
        const state = {
          secrets,
          returnTo: safeReturnTo(returnTo),
          organisationId,
          replacedToken: sessionToken ?? null,
        };
        return { url: url.href, sealedState: sealSignInState(stateSealer, state, now().getTime()) };
      }),

    finish: (parameters, sealedState, context) =>
      reporting(context.correlationId, async () => {
        const state = sealedState && openSignInState(stateSealer, sealedState, now().getTime());
        if (!state) throw new SignInRefusal("expired", "the browser began no sign-in, or too long ago");
        const token = await finishSignIn(deps, parameters, state, context);
        onSignIn("person", "succeeded");
        return { token, returnTo: state.returnTo };
      }),
  };
}
