import type { CreateAgent } from "@perch/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { modelsQuery } from "../../api/agents-queries.ts";
import { perch } from "../../api/perch.ts";
import { problemsByField } from "../../api/problems-by-field.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Field, TextArea, TextInput } from "../../parts/field.tsx";
import { MayNot } from "../../parts/may-not.tsx";
import { Page } from "../../parts/page.tsx";
import { LeaveGuard } from "../../session/leave-guard.tsx";
import { useCan } from "../../session/session.ts";
import { ModelInput } from "./model-input.tsx";

function NewAgentForm() {
  const [name, setName] = useState("");
  const [chosenModel, setModel] = useState<string>();
  const [instructions, setInstructions] = useState("");
  const { data: models = [] } = useQuery(modelsQuery);
  const model = chosenModel ?? models.find(({ id }) => !id.endsWith("*"))?.id ?? "";
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [isCreated, setIsCreated] = useState(false);
  const create = useMutation({
    mutationFn: (body: CreateAgent) => perch.agents.create(body),
    onSuccess: async () => {
      setIsCreated(true);
      await queryClient.invalidateQueries({ queryKey: ["agents"] });
      await navigate({ to: "/agents/$agent/playground", params: { agent: name }, ignoreBlocker: true });
    },
  });
  const problems = problemsByField(create.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name, model, instructions } as CreateAgent);
  };
  return (
    <form onSubmit={submit} className="flex max-w-2xl flex-col gap-3">
      <Field
        label="Name"
        hint="Lower-case letters, digits and hyphens, such as support-bot. It is part of addresses and cannot be changed."
        problem={problems.get("name")}
      >
        {(ids) => (
          <TextInput {...ids} required autoFocus value={name} onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <Field
        label="Model"
        hint="perch/echo answers with the message itself and needs no provider."
        problem={problems.get("model")}
      >
        {(ids) => <ModelInput {...ids} required value={model} onChange={setModel} />}
      </Field>
      <Field
        label="Instructions"
        hint="Who the agent is and what it does. Tools, memory and limits come later."
        problem={problems.get("instructions")}
      >
        {(ids) => (
          <TextArea {...ids} rows={10} value={instructions} onChange={({ target }) => setInstructions(target.value)} />
        )}
      </Field>
      {create.error && <ErrorNote error={create.error} />}
      <div className="flex gap-2">
        <Button kind="primary" type="submit" working={create.isPending}>
          Create agent
        </Button>
        <Link to="/agents" className={buttonClass("quiet")}>
          Cancel
        </Link>
      </div>
      <LeaveGuard
        isDirty={!isCreated && (name !== "" || instructions !== "" || chosenModel !== undefined)}
        description="The agent is not created yet. Your input is lost when you leave this page."
      />
    </form>
  );
}

/** A short form that leads to the playground. The rest of an agent is easier to define once it has answered something. */
export const NewAgent = () => (
  <Page title="New agent" width="form">
    {useCan("write") ? <NewAgentForm /> : <MayNot what="create agents" permission="write" />}
  </Page>
);
