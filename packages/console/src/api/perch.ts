import { type Logger, Perch, TimeoutError } from "@perch/sdk";
import { noteAnswer, noteNoAnswer } from "./connection.ts";
import { noteOwnChange } from "./own-changes.ts";
import { askForCode, factorProblem, isCodeMissing, isCodeRefused } from "./second-factor.ts";
import { withinLimit } from "./within-limit.ts";

let csrfToken: string | undefined;

/** Every change that a browser sends with its cookie must carry the session's token. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

let renewCsrfToken: () => Promise<boolean> = () => Promise.resolve(false);

/** Gets the token of the browser's current session. False if the change must not be made with it. */
export function renewCsrfTokenWith(renew: () => Promise<boolean>): void {
  renewCsrfToken = renew;
}

const limitedFetch = withinLimit((input, init) => fetch(input, { ...init, credentials: "same-origin" }));

/** Reports to the rest of the page whether the server can be reached and whether the session has ended. */
const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await limitedFetch(input, init);
    // A 401 for a missing code does not mean that the session has ended.
    noteAnswer((await factorProblem(response)) === undefined ? response.status : 200);
    if (init?.method !== undefined && init.method !== "GET") noteOwnChange();
    return response;
  } catch (error) {
    // An aborted request is no evidence of a lost connection.
    if (!init?.signal?.aborted && !(error instanceof TimeoutError)) noteNoAnswer();
    throw error;
  }
};

const isAboutToken = async (response: Response): Promise<boolean> =>
  response.status === 403 && (await response.clone().text()).includes("X-CSRF-Token");

/** After a sign-in in another tab, the browser has a new session but this page still has the old session's token. */
const fetchWithToken: typeof fetch = async (input, init) => {
  const response = await watchedFetch(input, init);
  if (!(await isAboutToken(response)) || !(await renewCsrfToken().catch(() => false))) return response;
  const headers = new Headers(init?.headers);
  headers.set("x-csrf-token", csrfToken ?? "");
  return watchedFetch(input, { ...init, headers });
};

const codeHeader = "x-mfa-code";

/** A change that needs a second factor is sent again with the code that the user enters. Background requests are sent at once. */
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

/** A client that reports the state of its connections, for a page that shows it. */
export const createPerch = (logger?: Logger): Perch =>
  new Perch({
    baseUrl: location.origin,
    fetch: fetchWithCode,
    csrfToken: () => csrfToken,
    maxRetries: 2,
    // The client's own limit would run while the user looks for a code; each request has its own limit instead.
    timeoutSeconds: Number.POSITIVE_INFINITY,
    ...(logger && { logger }),
  });

/** The client of the whole console. It has no key: the browser sends the session's cookie. */
export const perch = createPerch();
