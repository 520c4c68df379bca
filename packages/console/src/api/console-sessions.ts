import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

/** How one can sign in here. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["console", "sign-in-methods"],
  queryFn: ({ signal }) => perch.consoleSessions.signInMethods({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Exchanges a key or a one-time link for a session; the browser keeps its cookie. */
export const createSession = (body: { readonly api_key: string } | { readonly link: string }) =>
  perch.consoleSessions.create(body, { maxRetries: 0 });

export const sessionsQuery = queryOptions({
  queryKey: ["console", "sessions"],
  queryFn: async ({ signal }) => {
    const { data, pagination } = await perch.request("GET /v1/console/sessions", { query: { limit: 100 } }, { signal });
    return { sessions: data, hasMore: pagination.has_more };
  },
});

export const endSession = (sessionId: string) =>
  perch.request("DELETE /v1/console/sessions/{session_id}", { params: { session_id: sessionId } });

/** The session of this browser, if it is among the newest of those that the reader may see. */
export const ownSessionQuery = queryOptions({
  queryKey: ["console", "sessions", "own"],
  queryFn: async ({ signal }) => {
    const { data } = await perch.request("GET /v1/console/sessions", { query: { limit: 100 } }, { signal });
    return data.find(({ current }) => current) ?? null;
  },
  staleTime: 60_000,
});
