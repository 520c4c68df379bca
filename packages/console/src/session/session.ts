import type { Me } from "@perch/sdk";
import { type QueryClient, queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { perch, setCsrfToken } from "../api/perch.ts";
import { tellOtherTabs } from "./other-tabs.ts";
import { setSessionEnded } from "./session-ended.ts";

type Permission = Me["key"]["permissions"][number];

const meKey = ["me"];

/**
 * All tabs share one session, so another tab can change the organisation. Loaded data then belongs to the previous organisation, or to
 * both.
 */
function forgetOtherOrganisation(client: QueryClient, { organisation }: Me): void {
  const before = client.getQueryData<Me>(meKey)?.organisation.id;
  if (before === organisation.id) return;
  tellOtherTabs(organisation.id);
  if (before !== undefined) client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== meKey[0] });
}

/**
 * The signed-in person or key. Loaded once before any page, and again whenever the window gets the focus: another tab may have signed in
 * elsewhere.
 */
export const meQuery = queryOptions({
  queryKey: meKey,
  queryFn: async ({ signal, client }): Promise<Me> => {
    const me = await perch.me({ signal });
    setCsrfToken(me.session?.csrf_token);
    setSessionEnded(false);
    forgetOtherOrganisation(client, me);
    return me;
  },
  staleTime: 60_000,
  refetchOnWindowFocus: "always",
  // The first request of all: it finds out whether there is a connection.
  networkMode: "always",
});

/** Its `session` is null if the reader uses a key directly, as during development of the console. */
export const useMe = (): Me => useSuspenseQuery(meQuery).data;

/** Whether the signed-in key or person has the permission. A button whose request would be refused is not shown. */
export const useCan = (permission: Permission): boolean => useMe().key.permissions.includes(permission);
