import { Field, Select, TextInput } from "../../../parts/field.tsx";
import { SuggestedInput } from "../../../parts/suggested-input.tsx";

/** The value of the draft among the versions; no version has an empty label. */
export const draft = "";

interface FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem?: string | undefined;
}

/** The first deployment creates an environment, so any name can be typed. */
export const EnvironmentField = ({
  value,
  onChange,
  known,
  problem,
}: FieldProps & { readonly known: readonly string[] }) => (
  <Field label="Environment" problem={problem}>
    {(ids) => (
      <SuggestedInput
        {...ids}
        required
        value={value}
        onChange={onChange}
        suggestions={[...new Set(["production", ...known])]}
      />
    )}
  </Field>
);

interface SourceFieldProps extends FieldProps {
  readonly labels: readonly string[];
  /** A version that may be older than the loaded labels. */
  readonly first: string | undefined;
}

export const SourceField = ({ value, onChange, labels, first }: SourceFieldProps) => (
  <Field label="What to deploy">
    {(ids) => (
      <Select {...ids} value={value} onChange={({ target }) => onChange(target.value)}>
        <option value={draft}>The draft, as a new version</option>
        {[...new Set([...(first === undefined ? [] : [first]), ...labels])].map((label) => (
          <option key={label} value={label}>
            Version {label}
          </option>
        ))}
      </Select>
    )}
  </Field>
);

export const LabelField = ({ value, onChange, problem }: FieldProps) => (
  <Field
    label="Label of the new version"
    hint="The draft as it is now gets this label; a version never changes."
    problem={problem}
  >
    {(ids) => <TextInput {...ids} required value={value} onChange={({ target }) => onChange(target.value)} />}
  </Field>
);

export const TrafficField = ({ value, onChange, problem }: FieldProps) => (
  <Field
    label="Share of requests, in percent"
    hint="Less than 100 makes it a canary beside the live version."
    problem={problem}
  >
    {(ids) => (
      <TextInput
        {...ids}
        type="number"
        required
        min={1}
        max={100}
        className="max-w-24"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);
