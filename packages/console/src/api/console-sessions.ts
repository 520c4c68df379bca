import type { ConsoleSession } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { othersOfMine } from "./own-sessions.ts";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

/** The sign-in methods that this installation offers. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["console", "sign-in-methods"],
  queryFn: ({ signal }) => perch.consoleSessions.signInMethods({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
  // The sign-in page sends no other request, so a query that waits for a connection would wait forever.
  networkMode: "always",
});

/** Exchanges a key or a one-time link for a session; the browser keeps its cookie. */
export const createSession = (body: { readonly api_key: string } | { readonly link: string }) =>
  perch.consoleSessions.create(body, { maxRetries: 0 });

const sessionPage = (page: { readonly limit: number; readonly offset: number }, signal?: AbortSignal) =>
  perch.request("GET /v1/console/sessions", { query: page }, { ...(signal && { signal }) });

const sessionsKey = ["console", "sessions"];

/** Newest first: the caller's own sessions and, with the permission `manage`, those of the whole organisation. */
export const sessionListQuery = offsetPages([...sessionsKey, "list"], sessionPage);

export const sessionsChanged = (): Promise<void> => queryClient.invalidateQueries({ queryKey: sessionsKey });

/** Every page of sessions, because one person's sessions may be spread among many others. */
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

/** The session of this browser; null if the reader uses a key directly. */
export const ownSessionQuery = queryOptions({
  queryKey: [...sessionsKey, "own"],
  queryFn: async ({ signal }) => {
    for await (const session of eachSession(signal)) if (session.current) return session;
    return null;
  },
  staleTime: 60_000,
});
