import { Button } from "../../../parts/button.tsx";
import { TextInput } from "../../../parts/field.tsx";
import { Icon } from "../../../parts/icon.tsx";
import type { HeaderDraft } from "./webhook-draft.ts";

interface HeaderFieldsProps {
  readonly headers: readonly HeaderDraft[];
  readonly onChange: (headers: readonly HeaderDraft[]) => void;
  readonly problem: string | undefined;
}

/** Headers of each delivery. A value refers to secrets by name, so that no secret is written here. */
export function HeaderFields({ headers, onChange, problem }: HeaderFieldsProps) {
  const set = (index: number, change: Partial<HeaderDraft>) =>
    onChange(headers.map((header, at) => (at === index ? { ...header, ...change } : header)));
  const add = () =>
    onChange([...headers, { key: Math.max(-1, ...headers.map(({ key }) => key)) + 1, name: "", value: "" }]);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="font-medium text-table">Headers</legend>
      <p className={problem ? "text-danger text-small" : "text-muted text-small"}>
        {problem ?? (
          <>
            Sent with each delivery. Write <code className="font-mono">{"Bearer {{secret.name}}"}</code> to send a
            secret.
          </>
        )}
      </p>
      {headers.map(({ key, name, value }, index) => (
        <div key={key} className="flex items-center gap-2">
          <TextInput
            aria-label={`Name of header ${index + 1}`}
            placeholder="Authorization"
            className="w-2/5!"
            value={name}
            onChange={({ target }) => set(index, { name: target.value })}
          />
          <TextInput
            aria-label={`Value of header ${index + 1}`}
            placeholder="Bearer {{secret.name}}"
            value={value}
            onChange={({ target }) => set(index, { value: target.value })}
          />
          <Button
            kind="quiet"
            className="px-2"
            aria-label={`Remove header ${index + 1}`}
            onClick={() => onChange(headers.filter((_, at) => at !== index))}
          >
            <Icon name="cross" />
          </Button>
        </div>
      ))}
      <div>
        <Button onClick={add}>Add header</Button>
      </div>
    </fieldset>
  );
}
