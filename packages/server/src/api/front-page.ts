import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { version } from "../platform/version.ts";
import { single } from "../resources/envelopes.ts";

const links = { reference: "/docs", openapi: "/openapi.json", readiness: "/readyz", guide: "/#guide" };

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}" +
  "pre{overflow-x:auto;padding:.75rem;background:#f3f3f1}a{color:#0b5394}" +
  "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}pre{background:#242424}a{color:#8ab8e6}}";

const createPage = (items: readonly (readonly [href: string, text: string])[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Perch</title>
<style>${style}</style>
</head>
<body>
<h1>Perch ${version}</h1>
<p>This server hosts AI agents behind one REST API. Call it from a program, with an API key.</p>
<ul>
${items.map(([href, text]) => `<li><a href="${href}">${text}</a></li>`).join("\n")}
</ul>
<h2 id="guide">Create an agent and call it</h2>
<p>Ask the operator of this server for an API key. <code>PERCH_URL</code> is the address of this page.</p>
<pre><code>curl "$PERCH_URL/v1/agents" \\
  -H "Authorization: Bearer $PERCH_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"name": "my-agent", "model": "perch/echo"}'

curl "$PERCH_URL/v1/agents/my-agent/invoke" \\
  -H "Authorization: Bearer $PERCH_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"message": "Hello"}'</code></pre>
</body>
</html>
`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** How much a client wants a media type that its `Accept` names. */
function weightOf(type: string, accept: string): number {
  for (const item of accept.toLowerCase().split(",")) {
    const [name, ...parameters] = item.split(";").map((part) => part.trim());
    if (name !== type) continue;
    const weight = Number(parameters.find((each) => each.startsWith("q="))?.slice(2) ?? 1);
    return Number.isNaN(weight) ? 0 : weight;
  }
  return 0;
}

const prefersHtml = (accept: string): boolean => {
  const html = weightOf("text/html", accept);
  return html > 0 && html >= weightOf("application/json", accept);
};

/**
 * `/`: describes this server, to a browser as a page and to any other client as JSON. It is the same for all clients.
 */
export function frontPageRoute(app: FastifyInstance, { console }: { readonly console: boolean }): void {
  const shownLinks = console ? { console: "/console/", ...links } : links;
  const page = createPage([
    ...(console ? [["/console/", "Console"] as const] : []),
    [links.reference, "API reference"],
    [links.openapi, "OpenAPI document"],
    [links.readiness, "Whether this server is ready"],
  ]);
  app.get("/", async (request, reply) => {
    const vary = [reply.getHeader("vary"), "Accept"].filter(Boolean).join(", ");
    reply.header("cache-control", "public, max-age=60").header("vary", vary);
    if (!prefersHtml(request.headers.accept ?? "")) return single({ name: "Perch", version, links: shownLinks });
    return reply.header("content-security-policy", policy).type("text/html; charset=utf-8").send(page);
  });
}
