import { type ComponentProps, useId } from "react";
import { TextInput } from "./field.tsx";

export interface SuggestedInputProps extends Omit<ComponentProps<typeof TextInput>, "list" | "value" | "onChange"> {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly suggestions: readonly string[];
}

/** A text input with suggestions. Any text is allowed, because there may be more options than were loaded. */
export function SuggestedInput({ suggestions, onChange, ...rest }: SuggestedInputProps) {
  const listId = useId();
  return (
    <>
      <TextInput {...rest} list={listId} onChange={({ target }) => onChange(target.value)} />
      <datalist id={listId}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </>
  );
}
