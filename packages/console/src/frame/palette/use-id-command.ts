import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Command } from "./command.ts";
import { findAgent, findAgentOfDeployment, findAgentOfRun } from "./find-by-id.ts";
import { type PastedId, readId } from "./id-kind.ts";

const finders: Readonly<Record<string, (pasted: PastedId) => Promise<string | undefined>>> = {
  req: findAgentOfRun,
  dep: findAgentOfDeployment,
  agent: findAgent,
};

interface IdAnswer {
  readonly commands: readonly Command[];
  /** What to say while there is no page to go to. */
  readonly note?: string;
}

/** What a pasted id leads to. */
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
  if (!find) return { commands: [], note: `The console has no page for an id that begins with ${prefix}_.` };
  if (isFetching) return { commands: [], note: `Looking for ${id} …` };
  if (isError) return { commands: [], note: "The server did not answer. Try again." };
  // Its last characters tell it from its neighbours.
  const short = `${prefix}_…${id.slice(-6)}`;
  if (!data) return { commands: [], note: `This organisation has no ${id}, or its agent was deleted.` };
  if (prefix === "agent")
    return command(`Agent ${data}`, () => void navigate({ to: "/agents/$agent", params: { agent: data } }));
  if (prefix === "req")
    return command(
      `Run of ${data}, ${short}`,
      () => void navigate({ to: "/runs/$agent/$run", params: { agent: data, run: id } }),
    );
  return command(
    `Deployment of ${data}, ${short}, among its versions`,
    () => void navigate({ to: "/agents/$agent/versions", params: { agent: data }, search: {} as never }),
  );
}
