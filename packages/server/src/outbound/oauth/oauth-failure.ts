import { OutsideError } from "../outbound-errors.ts";

/**
 * `unavailable`: the server did not say, a retry may help. `refused`: it says no to this consent, so the user must consent again.
 * `denied`: the person said no. `invalid`: what it says is not what the protocol allows, or was not made for this consent.
 * `misconfigured`: the tool's `connection`, or the installation, must be changed.
 */
export type OAuthFailureKind = "unavailable" | "refused" | "denied" | "invalid" | "misconfigured";

/** Its message is for users: it says what to do, and holds no token and nothing that a browser or a server wrote. */
export class OAuthFailure extends OutsideError {
  readonly kind: OAuthFailureKind;

  constructor(kind: OAuthFailureKind, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
  }
}
