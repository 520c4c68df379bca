import type { TestServer } from "../servers/tool-server.ts";
import { type HttpToolAnswer, type HttpToolCall, startToolServer } from "../servers/tool-server.ts";

/** A server with answers that a test chooses, path by path: an authorization server or a tool of an attacker. */
export interface ScriptedServer extends TestServer {
  readonly calls: readonly HttpToolCall[];
  /** The answers of a path, without its query, from now on. Unset paths are 404. */
  readonly set: (path: string, answer: HttpToolAnswer | ((call: HttpToolCall) => HttpToolAnswer)) => void;
  readonly countCalls: (path: string) => number;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const answers = new Map<string, HttpToolAnswer | ((call: HttpToolCall) => HttpToolAnswer)>();
  const pathOf = ({ path }: HttpToolCall): string => path.split("?")[0] ?? "";
  const server = await startToolServer((call) => {
    const answer = answers.get(pathOf(call)) ?? { status: 404 };
    return typeof answer === "function" ? answer(call) : answer;
  });
  return {
    ...server,
    set: (path, answer) => void answers.set(path, answer),
    countCalls: (path) => server.calls.filter((call) => pathOf(call) === path).length,
  };
}

/** Metadata of an authorization server at this issuer, with changes. Undefined leaves a field out. */
export const serverMetadata = (issuer: string, changes: Readonly<Record<string, unknown>> = {}) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  revocation_endpoint: `${issuer}/revoke`,
  response_types_supported: ["code"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  code_challenge_methods_supported: ["S256"],
  token_endpoint_auth_methods_supported: ["none"],
  authorization_response_iss_parameter_supported: true,
  ...changes,
});

export const serverMetadataPath = "/.well-known/oauth-authorization-server";
export const resourceMetadataPath = "/.well-known/oauth-protected-resource";
