import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Command } from "./command.ts";
import { findAgentOfDeployment, findAgentOfRun } from "./find-by-id.ts";
import { type PastedId, readId } from "./id-kind.ts";

const finders: Readonly<Record<string, (pasted: PastedId) => Promise<string | undefined>>> = {
  req: findAgentOfRun,
  dep: findAgentOfDeployment,
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
  if (prefix === "agent")
    return command(`Agent ${id}`, () => void navigate({ to: "/agents/$agent", params: { agent: id } }));
  if (!find) return { commands: [], note: `The console has no page for an id that begins with ${prefix}_.` };
  if (isFetching) return { commands: [], note: `Looking for ${id} …` };
  if (isError) return { commands: [], note: "The server did not answer. Try again." };
  if (!data) return { commands: [], note: `This organisation has no ${id}, or its agent was deleted.` };
  if (prefix === "req")
    return command(`Run ${id}`, () => void navigate({ to: "/runs/$agent/$run", params: { agent: data, run: id } }));
  return command(
    `Deployment ${id}, in the versions of its agent`,
    () => void navigate({ to: "/agents/$agent/versions", params: { agent: data }, search: {} as never }),
  );
}
