import type { Me } from "@perch/sdk";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { perch, setCsrfToken } from "../api/perch.ts";

type Permission = Me["key"]["permissions"][number];

export interface SignedInPerson {
  readonly subject: string;
  readonly name: string | null;
  readonly email: string | null;
}

export interface CurrentSession {
  readonly id: string;
  readonly expires_at: string;
  readonly csrf_token: string;
  readonly person: SignedInPerson | null;
  readonly organisations: readonly { readonly id: string; readonly name: string; readonly role: string | null }[];
}

/** Without a session a key answers for the reader, as where the console is developed. */
export interface SignedIn extends Me {
  readonly session: CurrentSession | null;
}

/** Who is signed in. Loaded once before any page, and again when the window comes back. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }): Promise<SignedIn> => {
    const me = (await perch.me({ signal })) as SignedIn;
    setCsrfToken(me.session?.csrf_token);
    return me;
  },
  staleTime: 60_000,
  // The first request of all: it finds out whether there is a connection.
  networkMode: "always",
});

export const useMe = (): SignedIn => useSuspenseQuery(meQuery).data;

/** Whether the signed-in key or person may do it. A button that would be refused is not shown. */
export const useCan = (permission: Permission): boolean => useMe().key.permissions.includes(permission);
