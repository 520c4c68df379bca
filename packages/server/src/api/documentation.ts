import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import scalar from "@scalar/fastify-api-reference";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Admission } from "./admission.ts";
import { memoryStorageScript, type OpenApiDocument, pageDocument } from "./documentation-page.ts";
import { createServedText, sendFile } from "./served-file.ts";

const documentFile = createRequire(import.meta.url).resolve("@perch/contract/openapi.json");
const memoryStoragePath = "/docs/memory-storage.js";

/**
 * The page can reach nothing but this server, and runs no script but its own file and the one line that starts it. Its
 * script is large and not ours, so the sandbox gives it an origin of its own, apart from the console's.
 */
function pagePolicy(html: string): string {
  const inline = html.match(/<script type="text\/javascript">([\s\S]*?)<\/script>/)?.[1] ?? "";
  const hash = createHash("sha256").update(inline).digest("base64");
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox",
  ].join("; ");
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 12h14v1.5H1z"/><circle cx="8" cy="7.5" r="4"/><circle cx="9.5" cy="6.5" r=".8" fill="#fff"/></svg>';

const cacheControl = "public, max-age=60";
const json = "application/json; charset=utf-8";
const readDocument = () => JSON.parse(readFileSync(documentFile, "utf8")) as OpenApiDocument;

/** `/openapi.json`, and a reference page at `/docs` that loads nothing from outside. Both need no key, so an address has a limit. */
export async function documentationRoutes(
  app: FastifyInstance,
  { admitUnauthenticated }: Pick<Admission, "admitUnauthenticated">,
): Promise<void> {
  const limit = { onRequest: ({ ip }: FastifyRequest) => admitUnauthenticated(ip) };
  const document = createServedText(json, cacheControl, () => JSON.stringify(readDocument()));
  const shownDocument = createServedText(json, cacheControl, () => JSON.stringify(pageDocument(readDocument())));
  app.get("/openapi.json", limit, async (request, reply) => sendFile(request, reply, document()));
  app.get("/favicon.ico", async (_, reply) => reply.type("image/svg+xml").send(icon));
  await app.register(async (pages) => {
    pages.addHook("onRequest", limit.onRequest);
    pages.addHook("onSend", async (_, reply, payload) => {
      // The page's origin is none of ours, and what is here needs no key.
      reply.headers({
        "cache-control": cacheControl,
        "cross-origin-resource-policy": "cross-origin",
        "access-control-allow-origin": "*",
      });
      if (typeof payload !== "string" || !String(reply.getHeader("content-type")).startsWith("text/html"))
        return payload;
      reply.header("content-security-policy", pagePolicy(payload));
      // Before all other scripts.
      return payload.replace("<head>", `<head><script src="${memoryStoragePath}"></script>`);
    });
    pages.get("/docs/openapi.json", async (request, reply) => sendFile(request, reply, shownDocument()));
    pages.get(memoryStoragePath, async (_, reply) =>
      reply.type("text/javascript; charset=utf-8").send(memoryStorageScript),
    );
    await pages.register(scalar, {
      routePrefix: "/docs",
      configuration: {
        url: "/docs/openapi.json",
        pageTitle: "Perch API reference",
        defaultOpenAllTags: true,
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: "never",
        hiddenClients: true,
        modelsSectionLabel: "Schemas",
        documentDownloadType: "none",
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    });
  });
}
