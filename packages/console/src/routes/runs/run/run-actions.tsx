import type { Invocation } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { perch } from "../../../api/perch.ts";
import { isOpenRun, runQuery } from "../../../api/runs-queries.ts";
import { Button, buttonClass } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogActions } from "../../../parts/dialog-actions.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { useCan } from "../../../session/session.ts";
import { CopyAsCode } from "./copy-as-code.tsx";
import { contextOf } from "./run-context.ts";

interface RunProps {
  readonly agent: string;
  readonly run: Invocation;
}

function CancelRun({ agent, run }: RunProps) {
  const client = useQueryClient();
  const note = useRef<HTMLParagraphElement>(null);
  const cancel = useMutation({
    mutationFn: () => perch.runs.cancel(agent, run.request_id),
    onSuccess: () => {
      // The button disappears with the focus, so the focus moves to the note.
      note.current?.focus();
      return client.invalidateQueries({ queryKey: runQuery(agent, run.request_id).queryKey });
    },
  });
  const isAsked = cancel.isSuccess;
  return (
    <>
      <p
        ref={note}
        role="status"
        tabIndex={-1}
        className={isAsked ? "text-table text-warning outline-none" : "sr-only"}
      >
        {isAsked && "Cancelling: the run ends before its next step."}
      </p>
      {!isAsked && (
        <Button kind="danger" working={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel run
        </Button>
      )}
      {cancel.isError && <ErrorNote error={cancel.error} />}
    </>
  );
}

/** In a session the model sees the earlier messages, and later ones will see this one, so the user chooses. */
function RunAgain({ agent, run, isPrimary }: RunProps & { readonly isPrimary: boolean }) {
  const navigate = useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const again = useMutation({
    mutationFn: (inSession: boolean) =>
      perch.agents.invokeInBackground(agent, { message: run.message, context: contextOf(run, inSession) }),
    onSuccess: ({ request_id }) => {
      setIsAsking(false);
      return navigate({ to: "/runs/$agent/$run", params: { agent, run: request_id }, search: true });
    },
  });
  const start = () => (run.session_id === null ? again.mutate(false) : setIsAsking(true));
  return (
    <>
      <Button kind={isPrimary ? "primary" : "plain"} working={again.isPending && !isAsking} onClick={start}>
        Run again
      </Button>
      {again.isError && !isAsking && <ErrorNote error={again.error} />}
      <Dialog
        open={isAsking}
        onClose={() => setIsAsking(false)}
        title="Run again"
        description="The same message is sent as the same user to the version that answers in this environment now."
      >
        <p className="text-table">
          The run belongs to the session <OutsideText text={run.session_id ?? ""} className="font-mono" />. In the
          session, the model also sees its earlier messages, and this run becomes part of the conversation.
        </p>
        {again.isError && <ErrorNote error={again.error} />}
        <DialogActions>
          {/* First, because it gets the initial focus and changes no conversation. */}
          <Button kind="primary" working={again.isPending && !again.variables} onClick={() => again.mutate(false)}>
            Run without the session
          </Button>
          <Button working={again.isPending && again.variables} onClick={() => again.mutate(true)}>
            Run in the session
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}

/** The actions of a run. A user who may only read sees the actions that reading allows. */
export function RunActions({ agent, run }: RunProps) {
  const canWrite = useCan("write");
  const isOpen = isOpenRun(run);
  const failsAgain = run.status === "failed" && !run.retryable;
  return (
    <div data-page-actions className="flex flex-wrap items-center gap-2">
      {canWrite && isOpen && <CancelRun agent={agent} run={run} />}
      {canWrite && !isOpen && <RunAgain agent={agent} run={run} isPrimary={!failsAgain} />}
      {canWrite && (
        <Link
          to="/agents/$agent/playground"
          params={{ agent }}
          search={{ from: run.request_id }}
          className={buttonClass(failsAgain ? "primary" : "plain")}
        >
          Edit and run
        </Link>
      )}
      <CopyAsCode agent={agent} run={run} />
    </div>
  );
}
