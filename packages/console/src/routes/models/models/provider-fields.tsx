import { useInfiniteQuery } from "@tanstack/react-query";
import { secretListQuery } from "../../../api/secrets-queries.ts";
import { Field, Select, TextArea, TextInput } from "../../../parts/field.tsx";
import { SuggestedInput } from "../../../parts/suggested-input.tsx";
import type { KeyChoice } from "./provider-key.ts";

interface FieldProps<T> {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly problem: string | undefined;
}

interface AddressFieldProps extends FieldProps<string> {
  readonly isRequired: boolean;
  readonly isFirst?: boolean;
}

export const AddressField = ({ value, onChange, problem, isRequired, isFirst = false }: AddressFieldProps) => (
  <Field
    label="Address"
    hint={isRequired ? "URL of its API." : "URL of its API. Empty: the provider's public one."}
    problem={problem}
  >
    {(ids) => (
      <TextInput
        {...ids}
        type="url"
        // The first focus of a dialog that has nothing else to focus until it has loaded.
        autoFocus={isFirst}
        required={isRequired}
        placeholder="https://models.example/v1"
        className="font-mono"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

export const ModelsField = ({ value, onChange, problem }: FieldProps<string>) => (
  <Field
    label="Models"
    hint="The provider's names for them, one per line. Empty: agents may use all of them."
    problem={problem}
  >
    {(ids) => (
      <TextArea
        {...ids}
        rows={3}
        spellCheck={false}
        autoComplete="off"
        className="font-mono text-small"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

function SecretChoice({ value, onChange }: Omit<FieldProps<string>, "problem">) {
  const { data } = useInfiniteQuery(secretListQuery(undefined));
  const names = data?.pages.flatMap((page) => page.data.map(({ name }) => name)) ?? [];
  return (
    <SuggestedInput
      aria-label="Secret"
      placeholder="name of the secret"
      required
      pattern="[a-z][a-z0-9_]{0,62}"
      spellCheck={false}
      autoComplete="off"
      className="min-w-48 flex-1 font-mono"
      value={value}
      onChange={onChange}
      suggestions={names}
    />
  );
}

interface KeyFieldProps extends FieldProps<KeyChoice> {
  /** The label of the current key of an existing provider. */
  readonly keep?: string;
  readonly hint: string;
}

/** The key is never shown back, and browsers are asked not to store it. */
export const KeyField = ({ value, onChange, problem, keep, hint }: KeyFieldProps) => (
  <Field label="API key" hint={hint} problem={problem}>
    {(ids) => (
      <div className="flex flex-wrap gap-2">
        <Select
          {...ids}
          value={value.choice}
          onChange={({ target }) => onChange({ ...value, choice: target.value as KeyChoice["choice"] })}
        >
          {keep !== undefined && <option value="keep">{keep}</option>}
          <option value="own">{keep === undefined ? "a key" : "a new key"}</option>
          <option value="secret">from a secret of the organisation</option>
          <option value="none">none</option>
        </Select>
        {value.choice === "own" && (
          <TextInput
            aria-label="The key"
            type="password"
            autoComplete="new-password"
            required
            maxLength={4096}
            className="min-w-48 flex-1"
            value={value.key}
            onChange={({ target }) => onChange({ ...value, key: target.value })}
          />
        )}
        {value.choice === "secret" && (
          <SecretChoice value={value.secret} onChange={(secret) => onChange({ ...value, secret })} />
        )}
      </div>
    )}
  </Field>
);

export const modelsProblem = (problems: ReadonlyMap<string, string>): string | undefined =>
  [...problems].find(([field]) => field.startsWith("models"))?.[1];
