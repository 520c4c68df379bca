import type { Connection } from "@perch/sdk";

/** The meaning of each state for the user's runs, and what to do about it. */
export const statusSentences: Readonly<Record<Connection["status"], string>> = {
  pending: "No consent has been confirmed yet. Runs of this user go on without the account.",
  active: "Runs of this user use the account.",
  needs_reauth: "The provider no longer accepts the consent. The user needs a new link.",
  revoked: "No run uses the account any more. It is listed for 30 days.",
};

/** Whether the provider has confirmed that the tokens are void. */
export const revocationSentences: Readonly<Record<NonNullable<Connection["provider_revocation"]>, string>> = {
  done: "The provider has revoked the tokens.",
  pending: "The provider has not answered yet and is asked again for a day.",
  not_offered: "The provider has no way to revoke tokens: they are valid there until they expire.",
  failed: "The provider did not answer for a day: the tokens are valid there until they expire.",
};
