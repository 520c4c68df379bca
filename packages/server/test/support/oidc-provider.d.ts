// The package has no types. This is the part that our tests use.
declare module "oidc-provider" {
  import type { Server } from "node:http";
  export class Provider {
    constructor(issuer: string, configuration: object);
    listen(port: number, host: string): Server;
    on(event: string, listener: (...given: unknown[]) => void): this;
  }
}
