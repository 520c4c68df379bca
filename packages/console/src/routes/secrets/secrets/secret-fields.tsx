import type { ReactNode } from "react";
import { Check } from "../../../parts/check.tsx";
import { Field, TextArea, TextInput } from "../../../parts/field.tsx";

interface FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem: string | undefined;
}

interface ValueFieldProps extends FieldProps {
  readonly label: string;
  readonly hint: ReactNode;
  readonly isRequired: boolean;
}

/** The value is never shown back, and browsers are asked not to store it. */
export const ValueField = ({ label, hint, isRequired, value, onChange, problem }: ValueFieldProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {(ids) => (
      <TextInput
        {...ids}
        type="password"
        autoComplete="new-password"
        required={isRequired}
        minLength={8}
        maxLength={4096}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

interface HostsFieldProps extends FieldProps {
  readonly isFirst?: boolean;
}

export const HostsField = ({ value, onChange, problem, isFirst = false }: HostsFieldProps) => (
  <Field
    label="Hosts"
    hint="One per line. The secret is sent to these and to no others: api.github.com is HTTPS, tools.example:8443 another port."
    problem={problem}
  >
    {(ids) => (
      <TextArea
        {...ids}
        required
        // The first focus of a dialog that has nothing else to focus until it has loaded.
        autoFocus={isFirst}
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

interface ApprovalFieldProps {
  readonly isRequired: boolean;
  readonly onChange: (isRequired: boolean) => void;
}

export const ApprovalField = ({ isRequired, onChange }: ApprovalFieldProps) => (
  <Check
    label="A person approves every call"
    hint="Only tools use the secret then, whatever a version of an agent says."
    checked={isRequired}
    onChange={onChange}
  />
);

/** The server's message about the hosts, whose problems have the number of their line. */
export const hostsProblem = (problems: ReadonlyMap<string, string>): string | undefined =>
  [...problems].find(([field]) => field.startsWith("hosts"))?.[1];
