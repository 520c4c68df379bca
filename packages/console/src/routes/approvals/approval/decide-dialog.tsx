import { type Approval, PerchError } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Field, TextArea } from "../../../parts/field.tsx";
import { SecondFactorField } from "../../../parts/second-factor-field.tsx";
import { callName } from "./call-sentence.tsx";
import { DecisionNote } from "./decision-note.tsx";
import type { Decision } from "./use-decide.ts";

const maxReason = 2000;

const verbs = { approve: "Approve", reject: "Reject", answer: "Answer" } as const;

/** A short text: Enter sends it, and Shift+Enter begins a new line. */
const ReasonField = ({
  reason,
  onChange,
}: {
  readonly reason: string;
  readonly onChange: (reason: string) => void;
}) => (
  <Field label="Reason (optional)" hint="The model sees it. Enter rejects; Shift+Enter begins a new line.">
    {(ids) => (
      <TextArea
        {...ids}
        value={reason}
        maxLength={maxReason}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={(event: KeyboardEvent<HTMLTextAreaElement>) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
    )}
  </Field>
);

interface DecideDialogProps {
  readonly approval: Approval;
  readonly verdict: Decision["verdict"];
  readonly open: boolean;
  readonly onClose: () => void;
  /** The state after the decision. */
  readonly description: ReactNode;
  readonly onDecide: (written: { readonly reason: string; readonly code: string }) => Promise<unknown>;
}

const isAboutCode = (error: unknown): boolean =>
  error instanceof PerchError && error.status === 401 && /code|factor/i.test(error.shortMessage);

/** Asks once more before a decision that cannot be undone. Its button is at the same edge as the first one. */
export function DecideDialog({ approval, verdict, open, onClose, description, onDecide }: DecideDialogProps) {
  const [reason, setReason] = useState("");
  const [code, setCode] = useState("");
  const decide = useMutation({ mutationFn: () => onDecide({ reason: reason.trim(), code }), onSuccess: onClose });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!decide.isPending) decide.mutate();
  };
  const isReject = verdict === "reject";
  const isDecided = approval.status !== "open";
  const wrongCode = isAboutCode(decide.error) ? decide.error?.message : undefined;
  const close = () => {
    // The next attempt starts without the previous refusal, and a code counts only once.
    decide.reset();
    setCode("");
    onClose();
  };
  return (
    // If it closed while the request runs, the decision would seem not to happen.
    <Dialog
      open={open}
      onClose={close}
      title={`${verbs[verdict]} the ${callName(approval)}`}
      description={description}
      isFirm={decide.isPending}
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        {!isDecided && isReject && <ReasonField reason={reason} onChange={setReason} />}
        {!isDecided && approval.second_factor && (
          <SecondFactorField code={code} onChange={setCode} problem={wrongCode} />
        )}
        {decide.error && wrongCode === undefined && <ErrorNote error={decide.error} />}
        {isDecided && <DecisionNote approval={approval} />}
        <div className={classNames("flex gap-2", isReject && "flex-row-reverse")}>
          {!isDecided && (
            <Button kind={isReject ? "danger" : "primary"} type="submit" working={decide.isPending}>
              {verbs[verdict]} {approval.kind === "question" ? "question" : "call"}
            </Button>
          )}
          <Button kind="quiet" disabled={decide.isPending} onClick={close}>
            {isDecided ? "Close" : "Cancel"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
