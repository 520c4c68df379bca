import { type Logger, Perch, TimeoutError } from "@perch/sdk";
import { noteAnswer, noteNoAnswer } from "./connection.ts";
import { noteOwnChange } from "./own-changes.ts";
import { askForCode, factorProblem, isCodeMissing, isCodeRefused } from "./second-factor.ts";
import { withinLimit } from "./within-limit.ts";

let csrfToken: string | undefined;

/** Every change that a browser asks for by its cookie must carry the session's token. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

let renewCsrfToken: () => Promise<boolean> = () => Promise.resolve(false);

/** How to get the token of the session that the browser has now. False: the change must not be made with it. */
export function renewCsrfTokenWith(renew: () => Promise<boolean>): void {
  renewCsrfToken = renew;
}

const limitedFetch = withinLimit((input, init) => fetch(input, { ...init, credentials: "same-origin" }));

/** Tells the rest of the page what it learns on the way: whether the server can be reached, and whether the session has ended. */
const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await limitedFetch(input, init);
    // Whoever lacks a code is signed in all the same.
    noteAnswer((await factorProblem(response)) === undefined ? response.status : 200);
    if (init?.method !== undefined && init.method !== "GET") noteOwnChange();
    return response;
  } catch (error) {
    // A request that the page itself gave up says nothing about the connection.
    if (!init?.signal?.aborted && !(error instanceof TimeoutError)) noteNoAnswer();
    throw error;
  }
};

const isAboutToken = async (response: Response): Promise<boolean> =>
  response.status === 403 && (await response.clone().text()).includes("X-CSRF-Token");

/** Whoever signs in again in another tab has another session, and this page still has the token of the one before. */
const fetchWithToken: typeof fetch = async (input, init) => {
  const response = await watchedFetch(input, init);
  if (!(await isAboutToken(response)) || !(await renewCsrfToken().catch(() => false))) return response;
  const headers = new Headers(init?.headers);
  headers.set("x-csrf-token", csrfToken ?? "");
  return watchedFetch(input, { ...init, headers });
};

const codeHeader = "x-mfa-code";

/** A change that needs a second factor is sent again with the code that somebody enters. Pages that ask by themselves send it at once. */
const fetchWithCode: typeof fetch = async (input, init) => {
  let response = await fetchWithToken(input, init);
  const headers = new Headers(init?.headers);
  if (headers.has(codeHeader)) return response;
  for (;;) {
    const problem = await factorProblem(response);
    const isFirst = !headers.has(codeHeader);
    if (problem === undefined || !(isFirst ? isCodeMissing(problem) : isCodeRefused(problem))) return response;
    const code = await askForCode(isFirst ? undefined : problem, init?.signal ?? null);
    if (code === undefined) return response;
    headers.set(codeHeader, code);
    headers.set("x-csrf-token", csrfToken ?? "");
    response = await fetchWithToken(input, { ...init, headers });
  }
};

/** A client that says what its connections do, for a page that shows it. */
export const createPerch = (logger?: Logger): Perch =>
  new Perch({
    baseUrl: location.origin,
    fetch: fetchWithCode,
    csrfToken: () => csrfToken,
    maxRetries: 2,
    // It would run on while somebody looks for a code; each request has its own.
    timeoutSeconds: Number.POSITIVE_INFINITY,
    ...(logger && { logger }),
  });

/** The client of the whole console. It has no key: the browser sends the session's cookie. */
export const perch = createPerch();
