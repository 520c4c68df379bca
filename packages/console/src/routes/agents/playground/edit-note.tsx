import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { Button } from "../../../parts/button.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import type { Edit } from "./edit.ts";

interface EditNoteProps {
  readonly agent: string;
  readonly edit: Edit;
  readonly onChange: (edit: Edit) => void;
  readonly onDiscard: () => void;
}

/** Shows which run the message in the input is from, and in which session it will be sent. */
export function EditNote({ agent, edit, onChange, onDiscard }: EditNoteProps) {
  const name = useId();
  const { runId, session, continues } = edit;
  const choice = (value: boolean, label: React.ReactNode) => (
    <label className="inline-flex items-center gap-1.5">
      <input
        type="radio"
        name={name}
        checked={continues === value}
        onChange={() => onChange({ ...edit, continues: value })}
        className="accent-accent"
      />
      <span>{label}</span>
    </label>
  );
  return (
    <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1 text-small">
      <legend className="sr-only">Edit and run again</legend>
      <span className="text-muted">
        Edits the message of{" "}
        {runId === undefined ? (
          "a turn"
        ) : (
          <Link to="/runs/$agent/$run" params={{ agent, run: runId }} className={`${textLinkClass} font-mono`}>
            {runId}
          </Link>
        )}
        {session === undefined && ". It is sent in a new session."}
      </span>
      {session !== undefined && choice(false, "Begin a new session")}
      {session !== undefined &&
        choice(
          true,
          <>
            Continue session <OutsideText text={session} className="font-mono" />
          </>,
        )}
      <Button kind="quiet" className="ml-auto h-6 px-2 text-small" onClick={onDiscard}>
        Discard edit
      </Button>
    </fieldset>
  );
}
