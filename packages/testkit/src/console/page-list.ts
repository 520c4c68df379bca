import type { Pages } from "./stories/told.ts";
import type { Story } from "./story.ts";

export interface ConsolePage {
  /** Part of the name of its screenshots. */
  readonly name: string;
  readonly path: string;
  /** The key with which the page looks as intended. Without one, the story's admin key. */
  readonly apiKey?: string;
}

const isId = /^[a-z]+_[0-9a-z]{26}$/;
/** In these areas, an agent's name is the second part of the address. */
const ofAgent = ["agents", "runs", "memory", "connections"];

/** The route of an address: without ids, names of agents and search, except the two that lead to another page. */
function routeOf({ path, apiKey }: ConsolePage): string {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const [, , first = "", second, ...rest] = pathname.split("/");
  const agent = second !== undefined && second !== "new" && ofAgent.includes(first) ? "$agent" : second;
  const parts = [first, agent, ...rest]
    .filter((part) => part !== undefined)
    .map((part) => (isId.test(part) ? "$id" : part));
  return [parts.join("/"), searchParams.has("agent"), searchParams.has("tail"), apiKey !== undefined].join(" ");
}

/** One page of each route, which is what CI checks. `CONSOLE_PAGES=all` checks every state of each, which takes some ten minutes. */
export function listPagesToCheck(story: Story): readonly ConsolePage[] {
  const pages = listPages(story);
  if (process.env.CONSOLE_PAGES === "all") return pages;
  const seen = new Set<string>();
  return pages.filter((page) => {
    const route = routeOf(page);
    return !seen.has(route) && seen.add(route);
  });
}

/** Every page of the console, and every state of one that looks different. */
export function listPages({ runs, conversation, pages: others }: Story): readonly ConsolePage[] {
  const pages: Pages = {
    agents: "/agents",
    "new-agent": "/agents/new",
    "agent-overview": "/agents/support",
    "agent-definition": "/agents/support/definition",
    "agent-versions": "/agents/support/versions",
    "agent-version-difference": "/agents/support/versions?from=v1&to=v3",
    playground: "/agents/support/playground",
    "playground-conversation": `/agents/support/playground?user=customer-1007&session=${conversation}`,
    "playground-comparison": "/agents/support/playground?version=v2&compare=v3",
    "playground-from-run": `/agents/support/playground?from=${runs.completed}`,
    runs: "/runs",
    "runs-failed": "/runs?status=failed",
    "run-completed": `/runs/support/${runs.completed}`,
    "run-troubled": `/runs/support/${runs.troubled}`,
    "run-failed": `/runs/order-intake/${runs.failed}`,
    "run-running": `/runs/research/${runs.running}`,
    "run-cancelled": `/runs/weekly-digest/${runs.cancelled}`,
    "run-missing": "/runs/support/req_01h455vb4pex5vsknk084sn02q",
    "no-such-page": "/nowhere",
    "no-such-agent": "/agents/nobody",
    ...others,
  };
  return Object.entries(pages).map(([name, page]) =>
    typeof page === "string"
      ? { name, path: `/console${page}` }
      : { name, path: `/console${page.path}`, apiKey: page.apiKey },
  );
}
