import {
  type Agent,
  ConflictError,
  etagOf,
  PerchError,
  PreconditionFailedError,
  type SecuritySettings,
} from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { agentQuery } from "../../../api/agents-queries.ts";
import { perch } from "../../../api/perch.ts";
import { draftOf, isChangedSince, patchOf, type SecurityDraft } from "./security-draft.ts";

const isRefusal = (error: unknown): boolean =>
  error instanceof PerchError && (error.status === 401 || error.status === 403);

/** The changes in the form, and the agent as it was when the user began. */
interface Editing {
  readonly base: Agent;
  readonly draft: SecurityDraft;
}

/** The form's draft, and saving it: only the changed blocks, and only if no other user has changed the settings since. */
export function useSecurity(ref: string, agent: Agent) {
  const queryClient = useQueryClient();
  const [editing, setEditing] = useState<Editing>();
  const [refusal, setRefusal] = useState<unknown>();
  const [generation, setGeneration] = useState(0);
  // The agent is read again while the user edits. A comparison with the new state would revert other users' changes on saving.
  const isOvertaken = editing !== undefined && isChangedSince(editing.base, agent);
  const base = isOvertaken ? editing.base : agent;
  const draft = editing?.draft ?? draftOf(agent);
  const patch = patchOf(base, draft);
  const isDirty = Object.keys(patch).length > 0;
  const begin = () => {
    setEditing(undefined);
    setGeneration((before) => before + 1);
  };
  /** The settings apply from the next request on, so this request shows whether the console is still allowed. */
  const probe = async () => {
    try {
      queryClient.setQueryData(agentQuery(ref).queryKey, await perch.agents.get(agent.id));
      setRefusal(undefined);
    } catch (error) {
      setRefusal(isRefusal(error) ? error : undefined);
    }
  };
  const send = (force: boolean, ifMatch: string | undefined) =>
    perch.agents.update(agent.id, patch, { force }, { ...(ifMatch !== undefined && { ifMatch }), maxRetries: 0 });
  const save = useMutation({
    mutationFn: async (force: boolean) => {
      const saved = await send(force, etagOf(base)).catch(async (error: unknown) => {
        if (!(error instanceof PreconditionFailedError)) throw error;
        const fresh = await queryClient.fetchQuery({ ...agentQuery(ref), staleTime: 0 });
        if (isChangedSince(base, fresh)) throw error;
        return send(force, etagOf(fresh));
      });
      queryClient.setQueryData(agentQuery(ref).queryKey, saved);
      begin();
      await probe();
      return saved.warnings ?? [];
    },
  });
  const isLockOut = save.error instanceof ConflictError && save.error.message.includes("force=true");
  const change = (changes: Partial<SecurityDraft>) => {
    const changed = { ...draft, ...changes };
    const isBack = Object.keys(patchOf(base, changed)).length === 0;
    setEditing(isBack ? undefined : { base, draft: changed });
    // A warning about other settings is not a consent to these.
    if (isLockOut) save.reset();
  };
  return {
    draft,
    /** Changes with the base of the form, so that fields with their own text start again. */
    generation: `${generation} ${JSON.stringify(base.security)}`,
    change,
    discard: () => {
      begin();
      save.reset();
    },
    isDirty,
    /** Another user has changed the settings since this form was opened. */
    isOvertaken,
    /** Only the changes that saving would make. */
    changed: (patch.security ?? {}) as SecuritySettings,
    setsAuth: draft.auth !== undefined && draft.auth !== null,
    save,
    /** The server reported the lock-out itself, for a reason that the page could not know. */
    isLockOut,
    refusal,
    probe,
  };
}
