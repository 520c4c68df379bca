import { queryOptions } from "@tanstack/react-query";
import type { CurrentSession, SignedInPerson } from "../session/session.ts";
import { perch } from "./perch.ts";

export interface ConsoleSession {
  readonly id: string;
  readonly current: boolean;
  readonly key_id: string | null;
  readonly person: SignedInPerson | null;
  readonly role: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
  readonly address: string;
  readonly user_agent: string | null;
}

export interface SignInMethods {
  readonly api_key: boolean;
  readonly person: { readonly name: string } | null;
}

/** The operations of sessions, of which the client has no types yet. */
const request = <T>(key: string, input: object = {}, signal?: AbortSignal): Promise<T> =>
  (perch.request as (key: string, input: object, options: object) => Promise<T>).call(perch, key, input, {
    signal,
    maxRetries: 0,
  });

export const signInMethodsQuery = queryOptions({
  queryKey: ["console", "sign-in-methods"],
  queryFn: async ({ signal }) =>
    (await request<{ data: SignInMethods }>("GET /v1/console/sign-in-methods", {}, signal)).data,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Exchanges a key or a one-time link for a session; the browser keeps its cookie. */
export const createSession = async (body: { readonly api_key: string } | { readonly link: string }) =>
  (await request<{ data: ConsoleSession & Pick<CurrentSession, "csrf_token"> }>("POST /v1/console/sessions", { body }))
    .data;

interface SessionList {
  readonly data: readonly ConsoleSession[];
  readonly pagination: { readonly has_more: boolean };
}

export const sessionsQuery = queryOptions({
  queryKey: ["console", "sessions"],
  queryFn: async ({ signal }) => {
    const query = { limit: 100 };
    const { data, pagination } = await request<SessionList>("GET /v1/console/sessions", { query }, signal);
    return { sessions: data, hasMore: pagination.has_more };
  },
});

export const endSession = (sessionId: string) =>
  request("DELETE /v1/console/sessions/{session_id}", { params: { session_id: sessionId } });
