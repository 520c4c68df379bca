import type { ConsoleSession } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { othersOfMine } from "./own-sessions.ts";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

/** How one can sign in here. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["console", "sign-in-methods"],
  queryFn: ({ signal }) => perch.consoleSessions.signInMethods({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
  // Nothing else asks the server there: waiting for a connection, it would wait for ever.
  networkMode: "always",
});

/** Exchanges a key or a one-time link for a session; the browser keeps its cookie. */
export const createSession = (body: { readonly api_key: string } | { readonly link: string }) =>
  perch.consoleSessions.create(body, { maxRetries: 0 });

const sessionPage = (page: { readonly limit: number; readonly offset: number }, signal?: AbortSignal) =>
  perch.request("GET /v1/console/sessions", { query: page }, { ...(signal && { signal }) });

const sessionsKey = ["console", "sessions"];

/** Newest first: the own ones and, with the permission `manage`, those of everybody. */
export const sessionListQuery = offsetPages([...sessionsKey, "list"], sessionPage);

export const sessionsChanged = (): Promise<void> => queryClient.invalidateQueries({ queryKey: sessionsKey });

/** All of them, page after page: those of one person may be behind those of many others. */
async function* eachSession(signal?: AbortSignal): AsyncGenerator<ConsoleSession> {
  for (let offset = 0; ; ) {
    const { data, pagination } = await sessionPage({ limit: 100, offset }, signal);
    yield* data;
    offset += data.length;
    if (!pagination.has_more || data.length === 0) return;
  }
}

/** Sessions of the same key or person in other browsers. */
export const otherSessionsQuery = queryOptions({
  queryKey: [...sessionsKey, "others"],
  queryFn: async ({ signal }) => {
    const all: ConsoleSession[] = [];
    for await (const session of eachSession(signal)) all.push(session);
    return othersOfMine(all);
  },
  staleTime: 0,
});

export const endSession = (sessionId: string) =>
  perch.request("DELETE /v1/console/sessions/{session_id}", { params: { session_id: sessionId } });

/** The session of this browser; null where a key answers for the reader. */
export const ownSessionQuery = queryOptions({
  queryKey: [...sessionsKey, "own"],
  queryFn: async ({ signal }) => {
    for await (const session of eachSession(signal)) if (session.current) return session;
    return null;
  },
  staleTime: 60_000,
});
