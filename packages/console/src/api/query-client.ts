import { PerchError } from "@perch/sdk";
import { onlineManager, QueryClient } from "@tanstack/react-query";

/** The SDK retries what can succeed later, so a query that failed is not tried again here. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 5000, refetchOnWindowFocus: true, refetchOnReconnect: false },
    // A change that somebody asked for fails without a connection. It must not happen minutes later by itself.
    mutations: { networkMode: "always" },
  },
});

// What was missed without a connection is read again, also by pages that are not open at that moment.
onlineManager.subscribe((isOnline) => {
  if (isOnline) void queryClient.invalidateQueries();
});

/** Whether the session has ended: the page then asks to sign in again. */
export const isSignedOut = (error: unknown): boolean => error instanceof PerchError && error.status === 401;
