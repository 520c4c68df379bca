import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, useId } from "react";
import { modelsQuery } from "../../api/agents-queries.ts";
import { TextInput } from "../../parts/field.tsx";

interface ModelInputProps extends Omit<ComponentProps<typeof TextInput>, "value" | "onChange"> {
  readonly value: string;
  readonly onChange: (model: string) => void;
}

/** `provider/model` as text, with the models of the organisation to choose from: a provider may have more than it lists. */
export function ModelInput({ value, onChange, ...rest }: ModelInputProps) {
  const { data: models = [] } = useQuery(modelsQuery);
  const listId = useId();
  return (
    <>
      <TextInput
        {...rest}
        list={listId}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="font-mono"
      />
      <datalist id={listId}>
        {models.map(({ id }) => (
          <option key={id} value={id.replace(/\*$/, "")} />
        ))}
      </datalist>
    </>
  );
}
