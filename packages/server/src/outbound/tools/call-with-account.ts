import { type CreateRedactor, chainRedactors, noRedaction, type Redactor } from "../secrets/redactor.ts";
import { type ConnectedTool, type FindToken, linkCommand, type ToolToken, type ToolUser } from "./find-token.ts";
import { LoginRejectedError } from "./tool-errors.ts";

/** The part of a call that an account adds. */
export interface Login {
  readonly headers: Readonly<Record<string, string>>;
  /** The redactor of all that the call carries. */
  readonly addTo: (redactor: Redactor) => Redactor;
  /** The advice if the tool refuses the account. `setting` names the setting of its `connection`, for users. */
  readonly advise?: (setting: string) => string;
}

const noLogin: Login = { headers: {}, addTo: (redactor) => redactor };

const adviseAccount = (setting: string, { name, connection }: ConnectedTool, { agentId }: ToolUser): string =>
  connection.account === "agent"
    ? `It refuses the agent's account: check ${setting}, its scopes, and what the account may do.`
    : `It refuses the user's account: the user may lack a right, or ${setting} a scope. ${linkCommand(name, agentId)} gives a link with which the user can connect another account.`;

/** The last of these tokens is sent. A tool may show those that it refused in its answer to the next. */
function toLogin(
  createRedactor: CreateRedactor,
  tool: ConnectedTool,
  user: ToolUser,
  tokens: readonly [...ToolToken[], ToolToken],
): Login {
  const { name } = tool;
  const values = tokens.map(({ value }) => [`[token of ${name}]`, value] as const);
  const ofTokens = createRedactor(user.organisationId, values);
  return {
    headers: { authorization: `Bearer ${tokens.at(-1)?.value}` },
    addTo: (redactor) => (redactor === noRedaction ? ofTokens : chainRedactors(redactor, ofTokens)),
    advise: (setting) => adviseAccount(setting, tool, user),
  };
}

interface AccountCall {
  readonly user: ToolUser;
  /** Undefined: the tool needs no account. */
  readonly tool: ConnectedTool | undefined;
  readonly signal: AbortSignal;
}

interface AccountDeps {
  readonly findToken: FindToken;
  readonly createRedactor: CreateRedactor;
}

/**
 * Makes a call with the account that the tool needs. A tool that refuses the token is called once more with a newer
 * one, if there is one: it may have been revoked or replaced in the meantime.
 */
export async function callWithAccount<T>(
  { findToken, createRedactor }: AccountDeps,
  { user, tool, signal }: AccountCall,
  call: (login: Login) => Promise<T>,
): Promise<T> {
  if (!tool) return call(noLogin);
  const token = await findToken(user, tool, { signal });
  try {
    return await call(toLogin(createRedactor, tool, user, [token]));
  } catch (error) {
    if (!(error instanceof LoginRejectedError)) throw error;
    const newer = await findToken(user, tool, { rejected: token, signal });
    if (newer.generation === token.generation) throw error;
    return call(toLogin(createRedactor, tool, user, [token, newer]));
  }
}
