import { Field, TextInput } from "./field.tsx";

interface SecondFactorFieldProps {
  readonly code: string;
  readonly onChange: (code: string) => void;
  readonly problem?: string | undefined;
}

/** Asks for a code of the second factor of the key that is signed in. */
export const SecondFactorField = ({ code, onChange, problem }: SecondFactorFieldProps) => (
  <Field
    label="Code of your second factor"
    hint="From your authenticator app, or a recovery code. A code works once."
    problem={problem}
  >
    {(ids) => (
      <TextInput
        {...ids}
        value={code}
        onChange={({ target }) => onChange(target.value.trim())}
        autoComplete="one-time-code"
        autoCapitalize="none"
        maxLength={64}
        className="max-w-64 font-mono"
      />
    )}
  </Field>
);
