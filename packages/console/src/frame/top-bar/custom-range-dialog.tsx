import { type FormEvent, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { resolveRange } from "../../parts/time-range.ts";

interface CustomRangeDialogProps {
  readonly range: string;
  readonly onClose: () => void;
  readonly onChoose: (range: string) => void;
}

/** As a `datetime-local` field has it: local time, without a zone. */
const localTime = (date: Date): string =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

export function CustomRangeDialog({ range, onClose, onChoose }: CustomRangeDialogProps) {
  const [{ start, end }] = useState(() => resolveRange(range, new Date()));
  const [from, setFrom] = useState(localTime(start));
  const [to, setTo] = useState(localTime(end ?? new Date()));
  const isOrdered = from !== "" && to !== "" && from < to;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isOrdered) return;
    onChoose(`${new Date(from).toISOString()}..${new Date(to).toISOString()}`);
    onClose();
  };
  return (
    <Dialog open onClose={onClose} title="Time range" description="In your local time. The address has it in UTC.">
      <form onSubmit={submit} className="flex flex-col gap-2">
        <Field label="From">
          {(ids) => <TextInput {...ids} type="datetime-local" value={from} onChange={(e) => setFrom(e.target.value)} />}
        </Field>
        <Field label="To" problem={isOrdered ? undefined : "Choose an end after the beginning."}>
          {(ids) => <TextInput {...ids} type="datetime-local" value={to} onChange={(e) => setTo(e.target.value)} />}
        </Field>
        <Button type="submit" kind="primary" disabled={!isOrdered} className="self-start">
          Show this range
        </Button>
      </form>
    </Dialog>
  );
}
