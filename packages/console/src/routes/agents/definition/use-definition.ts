import { type Agent, etagOf, PreconditionFailedError } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { agentQuery } from "../../../api/agents-queries.ts";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import {
  type AgentDocument,
  documentOf,
  type ParsedText,
  type Path,
  parseText,
  textOf,
  withField,
} from "./agent-document.ts";
import { checkDocument } from "./check-document.ts";
import { defaultsOf, type Schema } from "./definition-schema.ts";
import { type Editing, editingAfterSave } from "./editing.ts";
import { isSameJson, patchOf } from "./patch-of.ts";

/** The sent document, and the one that it is compared with. */
interface Saving extends Editing {
  readonly document: AgentDocument;
  readonly ifMatch: string | undefined;
}

export interface Definition {
  readonly text: string;
  readonly parsed: ParsedText;
  readonly isDirty: boolean;
  /** Problems by the path of the field, such as `limits.max_steps`: from the server, or else from the schema. */
  readonly problems: ReadonlyMap<string, string>;
  readonly setText: (text: string) => void;
  readonly setField: (path: Path, value: unknown) => void;
  readonly discard: () => void;
  readonly save: () => void;
  readonly isSaving: boolean;
  /** A saving error that is not about a single field, or is about a hidden one. */
  readonly error: unknown;
  /** The agent after another user's change. */
  readonly changedMeanwhile: Agent | undefined;
  readonly overwrite: () => void;
}

function problemsOf(schema: Schema, document: AgentDocument | undefined, error: unknown): ReadonlyMap<string, string> {
  const found = document ? checkDocument(schema, document) : [];
  return new Map([...found.map(({ path, message }) => [path.join("."), message] as const), ...problemsByField(error)]);
}

/** Saves only the changed fields, and only if no other user has changed the agent since. */
function useSave(ref: string, schema: Schema, onSaved: (sent: Saving, saved: Agent) => void) {
  const queryClient = useQueryClient();
  const [changedMeanwhile, setChangedMeanwhile] = useState<Agent>();
  const mutation = useMutation({
    mutationFn: ({ base, began, document, ifMatch }: Saving) =>
      perch.agents.update(
        base.id,
        patchOf(began, document, defaultsOf(schema)),
        {},
        {
          ...(ifMatch !== undefined && { ifMatch }),
        },
      ),
    onSuccess: async (saved, sent) => {
      setChangedMeanwhile(undefined);
      queryClient.setQueryData(agentQuery(ref).queryKey, saved);
      onSaved(sent, saved);
      await queryClient.invalidateQueries({ queryKey: ["versions"] });
      await queryClient.invalidateQueries({ queryKey: ["agents", "list"] });
    },
    onError: async (error) => {
      if (error instanceof PreconditionFailedError)
        setChangedMeanwhile(await queryClient.fetchQuery({ ...agentQuery(ref), staleTime: 0 }));
    },
  });
  const forget = () => {
    setChangedMeanwhile(undefined);
    mutation.reset();
  };
  return { mutation, changedMeanwhile, forget };
}

export function useDefinition(ref: string, agent: Agent, schema: Schema): Definition {
  const [editing, setEditing] = useState<Editing>();
  const stored = useMemo(() => {
    const document = documentOf(agent);
    return { base: agent, began: document, text: textOf(document) };
  }, [agent]);
  const current = editing ?? stored;
  const { base, began, text } = current;
  const parsed = useMemo(() => parseText(text), [text]);
  const { mutation, changedMeanwhile, forget } = useSave(ref, schema, (sent, saved) =>
    setEditing((latest) => editingAfterSave(latest, sent, saved)),
  );
  const { document } = parsed;
  const problems = useMemo(() => problemsOf(schema, document, mutation.error), [schema, document, mutation.error]);
  const setText = (changed: string) => {
    if (changed === text) return;
    if (mutation.isError && !changedMeanwhile) mutation.reset();
    setEditing({ ...current, text: changed });
  };
  const send = (ifMatch: string | undefined) => document && mutation.mutate({ ...current, document, ifMatch });
  return {
    text,
    parsed,
    problems,
    isDirty: editing !== undefined && !(document && isSameJson(document, began)),
    setText,
    setField: (path, value) => setText(withField(text, path, value)),
    discard: () => {
      setEditing(undefined);
      forget();
    },
    save: () => send(etagOf(base)),
    isSaving: mutation.isPending,
    error: mutation.error instanceof PreconditionFailedError ? undefined : mutation.error,
    changedMeanwhile,
    overwrite: () => changedMeanwhile && send(etagOf(changedMeanwhile)),
  };
}
