import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/query-client.ts";
import "./app.css";
import { applyTheme, readTheme } from "./frame/theme.ts";
import { styleNonce } from "./parts/style-nonce.ts";
import { router } from "./router.tsx";
import { watchSession } from "./session/watch-session.ts";

applyTheme(readTheme());
// Dialogs add a style element while they are open; the page's policy requires its nonce.
setNonce(styleNonce());

watchSession(router);
// Loads the page's code while the router is still asking who is signed in.
for (const { routeId } of router.matchRoutes(router.latestLocation))
  void router.loadRouteChunk(router.routesById[routeId as keyof typeof router.routesById])?.catch(() => undefined);

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
