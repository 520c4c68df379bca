import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { visibleHtml } from "./visible-html.ts";

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2.5rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}" +
  "h1{font-size:1.4rem}h2{font-size:1.1rem}dt{font-weight:600}dd{margin:0 0 .5rem}dd,pre,p{overflow-wrap:anywhere;unicode-bidi:isolate}" +
  "pre{white-space:pre-wrap;padding:.75rem;background:#f3f3f1}label{display:block;margin:1rem 0 .25rem}" +
  "textarea,input,select{font:inherit;width:100%;box-sizing:border-box;color:inherit;background:inherit;border:1px solid #888;padding:.4rem}" +
  "button{font:inherit;margin:1rem .75rem 0 0;padding:.4rem 1.2rem}" +
  "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}pre{background:#242424}}";

/** Allows only the style and the form: no script, image or frame, whatever an argument contains. */
const policyWith = (formAction: readonly string[]): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    ...formAction,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
/** For a form that stays here. */
export const ownFormPolicy = policyWith(["form-action 'self'"]);
/** For a form that ends at another site: Chromium applies `form-action` to redirects too. */
export const leavingFormPolicy = policyWith([]);

export const createPage = (title: string, contents: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${contents.join("\n")}
</main>
</body>
</html>
`;

/** A line of a list of facts. */
export const row = (name: string, text: string | null): string =>
  text === null ? "" : `<dt>${name}</dt><dd dir="auto">${visibleHtml(text)}</dd>`;

/** Pages for people without a key or a session, who got a link. */
export const sendPage = (
  reply: FastifyReply,
  { status, page, policy }: { readonly status: number; readonly page: string; readonly policy: string },
): FastifyReply =>
  reply
    .code(status)
    .header("content-security-policy", policy)
    .header("cross-origin-opener-policy", "same-origin")
    .header("x-robots-tag", "noindex")
    .type("text/html; charset=utf-8")
    .send(page);
