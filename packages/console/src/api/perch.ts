import { Perch } from "@perch/sdk";

let csrfToken: string | undefined;

/** Every change that a browser asks for by its cookie must carry the session's token. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

const fetchWithCsrfToken: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  if (csrfToken !== undefined) headers.set("x-csrf-token", csrfToken);
  return fetch(input, { ...init, headers, credentials: "same-origin" });
};

/** The client of the whole console. It has no key: the browser sends the session's cookie. */
export const perch = new Perch({ baseUrl: location.origin, fetch: fetchWithCsrfToken, maxRetries: 2 });
