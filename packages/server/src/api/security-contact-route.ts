import type { FastifyInstance } from "fastify";

const dayMs = 86_400_000;
/** RFC 9116 wants less than a year, so that a forgotten file does not stay right for ever. */
const validMs = 180 * dayMs;

/** `security.txt`: where to report a weakness. It needs no authentication. */
export function securityContactRoute(app: FastifyInstance, contact: string, now: () => Date): void {
  app.get("/.well-known/security.txt", async (_, reply) => {
    const expires = new Date(Math.floor((now().getTime() + validMs) / dayMs) * dayMs).toISOString();
    return reply
      .header("cache-control", "public, max-age=86400")
      .type("text/plain; charset=utf-8")
      .send(`Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: en\n`);
  });
}
