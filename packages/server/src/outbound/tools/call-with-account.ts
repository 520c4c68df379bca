import { chainRedactors, createRedactor, noRedaction, type Redactor } from "../secrets/redactor.ts";
import type { ConnectedTool, FindToken, ToolToken, ToolUser } from "./find-token.ts";
import { LoginRejectedError } from "./tool-errors.ts";

/** What an account adds to a call. */
export interface Login {
  readonly headers: Readonly<Record<string, string>>;
  /** The redactor of all that the call carries. */
  readonly addTo: (redactor: Redactor) => Redactor;
}

const noLogin: Login = { headers: {}, addTo: (redactor) => redactor };

/** `replaced` was sent a moment ago: the tool may show it in its answer to the next. */
function toLogin({ name }: ConnectedTool, { value }: ToolToken, replaced?: ToolToken): Login {
  const values = replaced ? [value, replaced.value] : [value];
  const ofToken = createRedactor(new Map(values.map((each, i) => [`${name} ${i}`, each])), () => `[token of ${name}]`);
  return {
    headers: { authorization: `Bearer ${value}` },
    addTo: (redactor) => (redactor === noRedaction ? ofToken : chainRedactors(redactor, ofToken)),
  };
}

/** What to check where a tool refuses the account that it was called with. `setting` is where its `connection` stands, for users. */
export const adviseAccount = (setting: string, { account }: ConnectedTool["connection"]): string =>
  account === "agent"
    ? `It refuses the agent's account: check ${setting}, its scopes, and what the account may do.`
    : `It refuses the user's account: the user may lack a right, or ${setting} a scope. \`POST /v1/agents/{agent_id}/connections\` gives a link with which the user can connect another account.`;

interface AccountCall {
  readonly user: ToolUser;
  /** Undefined: the tool needs no account. */
  readonly tool: ConnectedTool | undefined;
  readonly signal: AbortSignal;
}

/**
 * Makes a call with the account that the tool needs. A tool that refuses the token is called once more with a newer one, if there is
 * one: it may have been revoked, or replaced meanwhile.
 */
export async function callWithAccount<T>(
  findToken: FindToken,
  { user, tool, signal }: AccountCall,
  call: (login: Login) => Promise<T>,
): Promise<T> {
  if (!tool) return call(noLogin);
  const token = await findToken(user, tool, { signal });
  try {
    return await call(toLogin(tool, token));
  } catch (error) {
    if (!(error instanceof LoginRejectedError)) throw error;
    const newer = await findToken(user, tool, { rejected: token, signal });
    if (newer.generation === token.generation) throw error;
    return call(toLogin(tool, newer, token));
  }
}
