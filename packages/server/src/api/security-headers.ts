/** On every response. An API serves no pages, so the policy allows nothing; `/`, `/docs`, `/console`, `/approve` and `/connect` set their own. */
export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
