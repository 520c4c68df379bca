import type { Me } from "@perch/sdk";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { perch, setCsrfToken } from "../api/perch.ts";
import { setSessionEnded } from "./session-ended.ts";

type Permission = Me["key"]["permissions"][number];

/** Who is signed in. Loaded once before any page, and again when the window comes back. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }): Promise<Me> => {
    const me = await perch.me({ signal });
    setCsrfToken(me.session?.csrf_token);
    setSessionEnded(false);
    return me;
  },
  staleTime: 60_000,
  // The first request of all: it finds out whether there is a connection.
  networkMode: "always",
});

/** Its `session` is null where a key answers for the reader, as while the console is developed. */
export const useMe = (): Me => useSuspenseQuery(meQuery).data;

/** Whether the signed-in key or person may do it. A button that would be refused is not shown. */
export const useCan = (permission: Permission): boolean => useMe().key.permissions.includes(permission);
