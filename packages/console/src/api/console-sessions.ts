import type { ConsoleSession, CreatedConsoleSession } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

/** A refusal is shown at once, and the reader decides whether to try again. */
const once = { maxRetries: 0 };

export interface SignInMethods {
  readonly api_key: boolean;
  readonly person: { readonly name: string } | null;
}

export const signInMethodsQuery = queryOptions({
  queryKey: ["console", "sign-in-methods"],
  queryFn: async ({ signal }) => {
    const request = perch.request as (key: string, input: object, options: object) => Promise<{ data: SignInMethods }>;
    return (await request.call(perch, "GET /v1/console/sign-in-methods", {}, { signal, ...once })).data;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** Exchanges a key or a one-time link for a session; the browser keeps its cookie. */
export const createSession = (
  body: { readonly api_key: string } | { readonly link: string },
): Promise<CreatedConsoleSession> => perch.consoleSessions.create(body, once);

export const sessionsQuery = queryOptions({
  queryKey: ["console", "sessions"],
  queryFn: async ({ signal }): Promise<{ sessions: ConsoleSession[]; hasMore: boolean }> => {
    const { data, pagination } = await perch.consoleSessions.list({ limit: 100 }, { signal, ...once });
    return { sessions: data, hasMore: pagination.has_more };
  },
});

export const endSession = (sessionId: string) => perch.consoleSessions.end(sessionId, once);
