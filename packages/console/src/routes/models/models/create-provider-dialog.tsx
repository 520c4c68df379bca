import type { CreateProvider } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { createProvider } from "../../../api/providers-queries.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { Field, Select, TextInput } from "../../../parts/field.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { AddressField, KeyField, ModelsField, modelsProblem } from "./provider-fields.tsx";
import { type KeyChoice, linesOf, toApiKey } from "./provider-key.ts";

type Type = CreateProvider["type"];
const types: readonly Type[] = ["openai", "anthropic", "google", "openai-compatible"];

interface CreateProviderDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

function CreateProviderForm({ onClose }: Omit<CreateProviderDialogProps, "open">) {
  const [name, setName] = useState("");
  const [type, setType] = useState<Type>("openai");
  const [address, setAddress] = useState("");
  const [models, setModels] = useState("");
  const [key, setKey] = useState<KeyChoice>({ choice: "own", key: "", secret: "" });
  const create = useMutation({
    gcTime: 0,
    mutationFn: () =>
      createProvider({
        name,
        type,
        base_url: address.trim() || null,
        models: linesOf(models),
        api_key: toApiKey(key) ?? null,
      }),
    onSuccess: onClose,
  });
  const problems = problemsByField(create.error);
  return (
    <DialogForm
      action="Create provider"
      isWorking={create.isPending}
      error={create.error}
      onSubmit={create.mutate}
      onCancel={onClose}
    >
      <Field
        label="Name"
        hint={`Agents name their model as ${visibleText(name) || "name"}/model.`}
        problem={problems.get("name")}
      >
        {(ids) => (
          <TextInput
            {...ids}
            required
            maxLength={63}
            placeholder="openai"
            className="font-mono"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <Field
        label="API"
        hint="openai-compatible is for vLLM, Ollama, gateways and others with OpenAI's API."
        problem={problems.get("type")}
      >
        {(ids) => (
          <Select {...ids} value={type} onChange={({ target }) => setType(target.value as Type)}>
            {types.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </Select>
        )}
      </Field>
      <AddressField
        value={address}
        onChange={setAddress}
        problem={problems.get("base_url")}
        isRequired={type === "openai-compatible"}
      />
      <ModelsField value={models} onChange={setModels} problem={modelsProblem(problems)} />
      <KeyField
        value={key}
        onChange={setKey}
        problem={problems.get("api_key")}
        hint="Stored encrypted. It is never shown again."
      />
    </DialogForm>
  );
}

export const CreateProviderDialog = ({ open, onClose }: CreateProviderDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Create provider"
    description="Agents of this organisation can use its models with the next run."
  >
    <CreateProviderForm onClose={onClose} />
  </Dialog>
);
