/** A request to the user for a code. */
export interface CodeRequest {
  /** The API's message about the previous code; undefined for the first. */
  readonly problem: string | undefined;
  /** Undefined if the user cancels. */
  readonly answer: (code: string | undefined) => void;
}

let asked: CodeRequest | undefined;
const listeners = new Set<() => void>();

function ask(next: CodeRequest | undefined): void {
  asked = next;
  for (const listen of listeners) listen();
}

export const subscribeToCodeRequest = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const currentCodeRequest = (): CodeRequest | undefined => asked;

let last: Promise<unknown> = Promise.resolve();

/** Asks the user for a code. Concurrent changes ask one after the other, because a code works once. */
export function askForCode(problem: string | undefined, signal: AbortSignal | null): Promise<string | undefined> {
  const answered = last.then(
    () =>
      new Promise<string | undefined>((resolve) => {
        if (signal?.aborted) return resolve(undefined);
        const giveUp = () => answer(undefined);
        const request: CodeRequest = { problem, answer: (code) => answer(code) };
        const answer = (code: string | undefined) => {
          signal?.removeEventListener("abort", giveUp);
          // If two quick clicks answer twice, the second must not hide the next request.
          if (asked === request) ask(undefined);
          resolve(code);
        };
        signal?.addEventListener("abort", giveUp);
        ask(request);
      }),
  );
  last = answered;
  return answered;
}

/** The API's messages for a missing code and for a refused one. None of them means that the session has ended. */
const missing = /needs a second factor: send a code/;
const refused = /^(This code is wrong|This step-up token|Too many wrong codes)/;

/** The message of a 401 about the second factor; undefined if the 401 has another reason. */
export async function factorProblem(response: Response): Promise<string | undefined> {
  if (response.status !== 401) return undefined;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const message = (body as { readonly error?: { readonly message?: unknown } } | undefined)?.error?.message;
  if (typeof message !== "string") return undefined;
  return missing.test(message) || refused.test(message) || /needs a second factor/.test(message) ? message : undefined;
}

/** Whether a code can help. It cannot if the key has no second factor at all. */
export const isCodeMissing = (problem: string): boolean => missing.test(problem);
export const isCodeRefused = (problem: string): boolean => refused.test(problem);
