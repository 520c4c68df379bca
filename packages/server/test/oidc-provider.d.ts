// The package brings no types of its own; this is what our tests use of it.
declare module "oidc-provider" {
  import type { Server } from "node:http";
  export class Provider {
    constructor(issuer: string, configuration: object);
    listen(port: number, host: string): Server;
    on(event: string, listener: (...given: unknown[]) => void): this;
  }
}
