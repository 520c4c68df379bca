import { type Agent, ConflictError, etagOf, PerchError } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { agentQuery } from "../../../api/agents-queries.ts";
import { perch } from "../../../api/perch.ts";
import { draftOf, patchOf, type SecurityDraft } from "./security-draft.ts";

const isRefusal = (error: unknown): boolean =>
  error instanceof PerchError && (error.status === 401 || error.status === 403);

/** The form's draft, and saving it: only what was changed, only if nobody has changed the agent meanwhile. */
export function useSecurity(ref: string, agent: Agent) {
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState<SecurityDraft>(() => draftOf(agent));
  const [refusal, setRefusal] = useState<unknown>();
  const [generation, setGeneration] = useState(0);
  const patch = patchOf(agent, draft);
  const isDirty = Object.keys(patch).length > 0;
  const begin = (from: Agent) => {
    setDraft(draftOf(from));
    setGeneration((before) => before + 1);
  };
  /** The settings count with the next request: this one says whether they let the console in. */
  const probe = async () => {
    try {
      queryClient.setQueryData(agentQuery(ref).queryKey, await perch.agents.get(agent.id));
      setRefusal(undefined);
    } catch (error) {
      setRefusal(isRefusal(error) ? error : undefined);
    }
  };
  const save = useMutation({
    mutationFn: async (force: boolean) => {
      const ifMatch = etagOf(agent);
      const saved = await perch.agents.update(
        agent.id,
        patch,
        { force },
        { ...(ifMatch !== undefined && { ifMatch }), maxRetries: 0 },
      );
      queryClient.setQueryData(agentQuery(ref).queryKey, saved);
      begin(saved);
      await probe();
      return saved.warnings ?? [];
    },
  });
  return {
    draft,
    /** Changes with what the form begins with: fields that keep their own text begin again. */
    generation,
    change: (change: Partial<SecurityDraft>) => setDraft((before) => ({ ...before, ...change })),
    discard: () => {
      begin(agent);
      save.reset();
    },
    isDirty,
    setsAuth: draft.auth !== undefined && draft.auth !== null,
    save,
    /** The server says so itself, of what the page could not know. */
    isLockOut: save.error instanceof ConflictError && save.error.message.includes("force=true"),
    refusal,
    probe,
  };
}
