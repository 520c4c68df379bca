/** Somebody is asked for a code. */
export interface CodeRequest {
  /** What the API said about the code before; undefined for the first. */
  readonly problem: string | undefined;
  /** Undefined: nobody wants to enter one. */
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

/** Asks whoever looks at the page. Changes that need a code at the same time ask one after the other: a code works once. */
export function askForCode(problem: string | undefined, signal: AbortSignal | null): Promise<string | undefined> {
  const answered = last.then(
    () =>
      new Promise<string | undefined>((resolve) => {
        if (signal?.aborted) return resolve(undefined);
        const giveUp = () => answer(undefined);
        const request: CodeRequest = { problem, answer: (code) => answer(code) };
        const answer = (code: string | undefined) => {
          signal?.removeEventListener("abort", giveUp);
          // Answered twice, as by two quick clicks, it must not hide what is asked next.
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

/** The API's words where a code is missing, and where one was refused. None of them means that the session has ended. */
const missing = /needs a second factor: send a code/;
const refused = /^(This code is wrong|This step-up token|Too many wrong codes)/;

/** What a 401 says about the second factor; undefined where it is about something else. */
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

/** Whether a code can help: not where the key has no second factor at all. */
export const isCodeMissing = (problem: string): boolean => missing.test(problem);
export const isCodeRefused = (problem: string): boolean => refused.test(problem);
