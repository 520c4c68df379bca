import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { isSignedOut, queryClient } from "./api/query-client.ts";
import { Frame } from "./frame/frame.tsx";
import { NotFound } from "./frame/not-found.tsx";
import { PageError, WholePageError } from "./frame/page-error.tsx";
import { parseFrameSearch, retainFrameSearch } from "./frame/search.ts";
import { lazyPage } from "./parts/lazy-page.tsx";
import { parseAgentsSearch } from "./routes/agents/agents-search.ts";
import { parseDefinitionSearch } from "./routes/agents/definition-search.ts";
import { parsePlaygroundSearch } from "./routes/agents/playground-search.ts";
import { parseVersionsSearch } from "./routes/agents/versions-search.ts";
import { parseRunSearch } from "./routes/runs/run-search.ts";
import { parseRunsSearch } from "./routes/runs/runs-search.ts";
import { meQuery } from "./session/session.ts";
import "./session/sign-in-link.ts";

/** `routes/` mirrors the addresses: the file of `/console/agents/…` is under `routes/agents`. */
const root = createRootRoute({ notFoundComponent: NotFound, errorComponent: WholePageError });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>) => ({
    return_to: typeof search.return_to === "string" ? search.return_to : undefined,
    error: typeof search.error === "string" ? search.error : undefined,
  }),
  component: lazyPage(() => import("./routes/sign-in/sign-in.tsx"), "SignIn"),
});

/** Every page but the one to sign in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  validateSearch: parseFrameSearch,
  search: { middlewares: [retainFrameSearch] },
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (isSignedOut(error))
        throw redirect({ to: "/sign-in", search: { return_to: location.publicHref, error: undefined } });
      throw error;
    }
  },
  component: Frame,
  errorComponent: WholePageError,
});

const home = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/agents" });
  },
});

const agents = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents",
  validateSearch: parseAgentsSearch,
  component: lazyPage(() => import("./routes/agents/agent-list.tsx"), "AgentList"),
});

const newAgent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/new",
  component: lazyPage(() => import("./routes/agents/new-agent.tsx"), "NewAgent"),
});

const agent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agent",
  component: lazyPage(() => import("./routes/agents/agent-frame.tsx"), "AgentFrame"),
});

const agentOverview = createRoute({
  getParentRoute: () => agent,
  path: "/",
  component: lazyPage(() => import("./routes/agents/overview.tsx"), "Overview"),
});

const agentDefinition = createRoute({
  getParentRoute: () => agent,
  path: "/definition",
  validateSearch: parseDefinitionSearch,
  component: lazyPage(() => import("./routes/agents/definition.tsx"), "Definition"),
});

const agentVersions = createRoute({
  getParentRoute: () => agent,
  path: "/versions",
  validateSearch: parseVersionsSearch,
  component: lazyPage(() => import("./routes/agents/versions.tsx"), "Versions"),
});

const playground = createRoute({
  getParentRoute: () => agent,
  path: "/playground",
  validateSearch: parsePlaygroundSearch,
  component: lazyPage(() => import("./routes/agents/playground.tsx"), "Playground"),
});

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs",
  validateSearch: parseRunsSearch,
  component: lazyPage(() => import("./routes/runs/runs.tsx"), "Runs"),
});

const run = createRoute({
  getParentRoute: () => runs,
  path: "/$agent/$run",
  validateSearch: parseRunSearch,
  component: lazyPage(() => import("./routes/runs/run.tsx"), "RunPage"),
});

const sessions = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings/sessions",
  component: lazyPage(() => import("./routes/settings/sessions.tsx"), "Sessions"),
});

const routeTree = root.addChildren([
  signIn,
  signedIn.addChildren([
    home,
    agents,
    newAgent,
    agent.addChildren([agentOverview, agentDefinition, agentVersions, playground]),
    runs.addChildren([run]),
    sessions,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: "/console",
  defaultPreload: "intent",
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
