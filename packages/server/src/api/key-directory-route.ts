import type { FastifyInstance } from "fastify";

export type ReadKeyDirectory = () => Promise<{
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}>;

/** The public keys with which receivers verify signed calls. They need no authentication. */
export function keyDirectoryRoute(app: FastifyInstance, read: ReadKeyDirectory): void {
  app.get("/.well-known/http-message-signatures-directory", async (_, reply) => {
    const { body, headers } = await read();
    // As bytes: Fastify would add a charset to the media type of a text.
    return reply.headers(headers).send(Buffer.from(body));
  });
}
