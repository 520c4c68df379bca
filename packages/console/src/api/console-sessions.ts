import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

export interface SignInMethods {
  readonly api_key: boolean;
  readonly person: { readonly name: string } | null;
}

/** How one can sign in here. The client has no type of this operation yet. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["console", "sign-in-methods"],
  queryFn: async ({ signal }): Promise<SignInMethods> => {
    const { data } = (await perch.request(
      "GET /v1/console/sign-in-methods" as never,
      {} as never,
      { signal } as never,
    )) as {
      data: SignInMethods;
    };
    return data;
  },
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
