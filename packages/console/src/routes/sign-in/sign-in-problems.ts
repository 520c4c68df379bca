/** The reason in the address why a sign-in failed or a session ended, as a sentence with what to do. */
const problems: Readonly<Record<string, string>> = {
  session_ended: "Your session has ended. Sign in to go on where you were.",
  own_key_revoked: "You revoked the key that you were signed in with. Sign in with another one.",
  no_organisation:
    "You are signed in at the issuer, but none of your groups belongs to an organisation here. Ask the operator of this installation to add one of your groups.",
  denied:
    "The issuer refused the sign-in, or you cancelled it. Try again, or ask the administrator of your account there.",
  issuer_unavailable: "The issuer does not answer. Try again in a minute, or sign in with an API key.",
  expired: "That sign-in took too long, or was begun in another tab. Start again.",
  invalid: "The issuer's answer did not fit this sign-in. Start again here, and not from a bookmark or an old tab.",
};

export const signInProblem = (code: string | undefined): string | undefined =>
  code === undefined ? undefined : (problems[code] ?? "The sign-in did not succeed. Start again.");
