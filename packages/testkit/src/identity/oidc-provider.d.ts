// The package has no types. This is the part that our tests use.
declare module "oidc-provider" {
  import type { IncomingMessage, Server, ServerResponse } from "node:http";

  interface TokenContext {
    readonly status: number;
    readonly oidc?: {
      readonly route?: string;
      readonly params?: Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly client?: { readonly clientId: string };
    };
  }
  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: new (of: {
      readonly clientId: string;
      readonly accountId: string;
    }) => {
      addOIDCScope(scope: string): void;
      addResourceScope(resource: string, scope: string): void;
      save(): Promise<string>;
    };
    readonly Client: {
      readonly prototype: {
        readonly clientId: string;
        redirectUriAllowed: (address: string) => boolean;
      };
    };
    readonly AccessToken: {
      find(value: string): Promise<
        | {
            readonly accountId: string;
            readonly clientId: string;
            readonly scope?: string;
            readonly exp: number;
          }
        | undefined
      >;
    };
    listen(port: number, host: string): Server;
    on(event: string, listener: (...given: unknown[]) => void): this;
    use(middleware: (context: TokenContext, next: () => Promise<void>) => Promise<void>): this;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{
      readonly uid: string;
      readonly prompt: { readonly name: string };
      readonly params: Readonly<Record<string, unknown>>;
      readonly session?: { readonly accountId: string };
    }>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
  export namespace interactionPolicy {
    class Check {
      constructor(
        reason: string,
        description: string,
        error: string,
        check: (context: { readonly oidc: { readonly result?: { readonly consent?: object } } }) => boolean,
      );
    }
    function base(): { get(name: string): { readonly checks: { add(check: Check): void } } };
  }
}
