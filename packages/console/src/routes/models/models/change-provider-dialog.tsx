import type { Provider } from "@perch/sdk";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { providerQuery, updateProvider } from "../../../api/providers-queries.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { Working } from "../../../parts/working.tsx";
import { AddressField, KeyField, ModelsField, modelsProblem } from "./provider-fields.tsx";
import { type KeyChoice, needsKeyAgain, toUpdate } from "./provider-key.ts";

interface ChangeProviderDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly name: string;
}

const keepOf = ({ api_key_set, api_key_secret }: Provider): string => {
  if (api_key_secret !== null) return `from the secret ${visibleText(api_key_secret)}, as it is`;
  return api_key_set ? "the key that is set" : "none, as it is";
};

interface FormProps {
  readonly provider: Provider;
  readonly onClose: () => void;
}

function ChangeProviderForm({ provider: newest, onClose }: FormProps) {
  const [provider] = useState(newest);
  const [address, setAddress] = useState(provider.base_url ?? "");
  const [models, setModels] = useState(provider.models.join("\n"));
  const [key, setKey] = useState<KeyChoice>({ choice: "keep", key: "", secret: provider.api_key_secret ?? "" });
  const baseUrl = address.trim() || null;
  const save = useMutation({
    gcTime: 0,
    mutationFn: () => updateProvider(provider.name, toUpdate(provider, { baseUrl, models, key })),
    onSuccess: onClose,
  });
  const problems = problemsByField(save.error);
  const isKeyNeeded = key.choice === "keep" && needsKeyAgain(provider, baseUrl);
  return (
    <DialogForm
      action="Save provider"
      canSubmit={!isKeyNeeded}
      isWorking={save.isPending}
      error={save.error}
      onSubmit={save.mutate}
      onCancel={onClose}
    >
      <AddressField
        value={address}
        onChange={setAddress}
        problem={problems.get("base_url")}
        isRequired={provider.type === "openai-compatible"}
        isFirst
      />
      <ModelsField value={models} onChange={setModels} problem={modelsProblem(problems)} />
      <KeyField
        value={key}
        onChange={setKey}
        keep={keepOf(provider)}
        problem={
          problems.get("api_key") ??
          (isKeyNeeded ? "Enter the key again: a stored key is not sent to another address." : undefined)
        }
        hint="Stored encrypted. It is never shown again."
      />
    </DialogForm>
  );
}

/** Loads the newest state, because the list may be out of date. */
function NewestProvider({ name, onClose }: Omit<ChangeProviderDialogProps, "open">) {
  const { data: provider, error, refetch } = useQuery(providerQuery(name));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return provider ? <ChangeProviderForm provider={provider} onClose={onClose} /> : <Working what="the provider" />;
}

export const ChangeProviderDialog = ({ open, ...rest }: ChangeProviderDialogProps) => (
  <Dialog
    open={open}
    onClose={rest.onClose}
    title={`Change ${visibleText(rest.name)}`}
    description="It applies from the next model call on."
  >
    <NewestProvider {...rest} />
  </Dialog>
);
