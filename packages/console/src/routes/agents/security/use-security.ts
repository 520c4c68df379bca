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

/** What somebody has changed, and the agent they saw when they began to. */
interface Editing {
  readonly base: Agent;
  readonly draft: SecurityDraft;
}

/** The form's draft, and saving it: only what was changed, only if nobody has changed the settings meanwhile. */
export function useSecurity(ref: string, agent: Agent) {
  const queryClient = useQueryClient();
  const [editing, setEditing] = useState<Editing>();
  const [refusal, setRefusal] = useState<unknown>();
  const [generation, setGeneration] = useState(0);
  // The agent is read again while somebody edits. Compared with that, what others changed would be taken back by saving.
  const isOvertaken = editing !== undefined && isChangedSince(editing.base, agent);
  const base = isOvertaken ? editing.base : agent;
  const draft = editing?.draft ?? draftOf(agent);
  const patch = patchOf(base, draft);
  const isDirty = Object.keys(patch).length > 0;
  const begin = () => {
    setEditing(undefined);
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
    // What the server said of other settings is no consent to these.
    if (isLockOut) save.reset();
  };
  return {
    draft,
    /** Changes with what the form begins with: fields that keep their own text begin again. */
    generation: `${generation} ${JSON.stringify(base.security)}`,
    change,
    discard: () => {
      begin();
      save.reset();
    },
    isDirty,
    /** Somebody else has changed the settings since this form was begun. */
    isOvertaken,
    /** Only what saving would change. */
    changed: (patch.security ?? {}) as SecuritySettings,
    setsAuth: draft.auth !== undefined && draft.auth !== null,
    save,
    /** The server says so itself, of what the page could not know. */
    isLockOut,
    refusal,
    probe,
  };
}
