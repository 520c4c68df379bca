import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ApiError } from "../platform/api-error.ts";
import { type ConsoleFiles, styleNonceMark } from "./console-files.ts";
import { sendFile } from "./served-file.ts";

/** The sources that the page may load and reach: this server, and style elements with the nonce of this response. */
const pagePolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

/** The console uses no device of the browser. It writes to the clipboard when the user presses a button. */
const permissionsPolicy =
  "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=(), clipboard-write=(self)";

const sendPage = (reply: FastifyReply, { page }: ConsoleFiles): FastifyReply => {
  const nonce = randomBytes(16).toString("base64");
  return reply
    .header("content-security-policy", pagePolicy(nonce))
    .header("cross-origin-opener-policy", "same-origin")
    .header("permissions-policy", permissionsPolicy)
    .type("text/html; charset=utf-8")
    .send(page.replaceAll(styleNonceMark, nonce));
};

const notBuilt = "The console is not built in this checkout. Build it: pnpm --filter @perch/console build\n";

/**
 * `/console/`: the files of the web console, which is a client of the API like any other. An address that does not name
 * a file is one of its pages, and gets the page that renders them all.
 */
export function consoleRoutes(app: FastifyInstance, console: ConsoleFiles | undefined): void {
  app.get("/console", async (_, reply) => reply.redirect("/console/"));
  app.get<{ Params: { "*": string } }>("/console/*", async (request, reply) => {
    if (!console) return reply.code(503).type("text/plain; charset=utf-8").send(notBuilt);
    const { "*": path } = request.params;
    const file = console.files.get(path);
    if (file) return sendFile(request, reply, file);
    // A page of an earlier release asks for files that this one does not have. HTML in their place would be a riddle.
    if (path.startsWith("assets/"))
      throw new ApiError("not_found", "This release of the console has no such file. Reload the page.");
    return sendPage(reply, console);
  });
}
