import { PerchError } from "@perch/sdk";
import { onlineManager, QueryClient } from "@tanstack/react-query";

/** The SDK retries transient failures, so a failed query is not retried here. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 5000, refetchOnWindowFocus: true, refetchOnReconnect: false },
    // A change fails at once without a connection. It must not happen by itself minutes later.
    mutations: { networkMode: "always" },
  },
});

// After a reconnect, stale queries are read again, including those of pages that are not open.
onlineManager.subscribe((isOnline) => {
  if (isOnline) void queryClient.invalidateQueries();
});

/** True if the session has ended; the page then asks the user to sign in again. */
export const isSignedOut = (error: unknown): boolean => error instanceof PerchError && error.status === 401;
