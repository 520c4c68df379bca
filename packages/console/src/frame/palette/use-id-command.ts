import { useQuery } from "@tanstack/react-query";
import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import type { Command } from "./command.ts";
import { findAgent, findAgentOfDeployment, findAgentOfRun } from "./find-by-id.ts";
import { type PastedId, readId } from "./id-kind.ts";

const finders: Readonly<Record<string, (pasted: PastedId) => Promise<string | undefined>>> = {
  req: findAgentOfRun,
  dep: findAgentOfDeployment,
  agent: findAgent,
};

/** Pages whose address needs only the id. The page itself reports if nothing has that id. */
const directPages: Readonly<Record<string, { readonly name: string; readonly to: (id: string) => NavigateOptions }>> = {
  appr: { name: "Approval", to: (approval) => ({ to: "/approvals/$approval", params: { approval } }) },
  wh: { name: "Webhook", to: (webhook) => ({ to: "/webhooks/$webhook", params: { webhook } }) },
  evt: { name: "Event", to: (event) => ({ to: "/events/$event", params: { event } }) },
  key: { name: "Key", to: (key) => ({ to: "/keys/$key", params: { key } }) },
};

interface IdAnswer {
  readonly commands: readonly Command[];
  /** A message while there is no page to go to. */
  readonly note?: string;
}

/** The command for a pasted id. */
export function useIdCommand(typed: string): IdAnswer {
  const navigate = useNavigate();
  const pasted = readId(typed);
  const find = pasted && finders[pasted.prefix];
  const { data, isFetching, isError } = useQuery({
    queryKey: ["runs", "agent-of", pasted?.id],
    queryFn: async () => (pasted && (await find?.(pasted))) ?? null,
    enabled: find !== undefined,
    staleTime: 60_000,
  });
  if (!pasted) return { commands: [] };
  const { id, prefix } = pasted;
  const command = (name: string, run: () => void): IdAnswer => ({
    commands: [{ id: `id ${id}`, group: "Go to", name, icon: "right", words: id, run }],
  });
  // Its last characters distinguish it from its neighbours.
  const short = `${prefix}_…${id.slice(-6)}`;
  const direct = directPages[prefix];
  if (direct) return command(`${direct.name} ${short}`, () => void navigate(direct.to(id)));
  if (!find) return { commands: [], note: `The console has no page for an id that begins with ${prefix}_.` };
  if (isFetching) return { commands: [], note: `Looking for ${id} …` };
  if (isError) return { commands: [], note: "The server did not answer. Try again." };
  if (!data) return { commands: [], note: `This organisation has no ${id}, or its agent was deleted.` };
  if (prefix === "agent")
    return command(`Agent ${data}`, () => void navigate({ to: "/agents/$agent", params: { agent: data } }));
  if (prefix === "req")
    return command(
      `Run of ${data}, ${short}`,
      () => void navigate({ to: "/runs/$agent/$run", params: { agent: data, run: id } }),
    );
  return command(
    `Deployment of ${data}, ${short}`,
    () => void navigate({ to: "/agents/$agent/deployments/$deployment", params: { agent: data, deployment: id } }),
  );
}
