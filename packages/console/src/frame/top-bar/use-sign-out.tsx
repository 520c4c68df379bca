import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { DiscardDialog } from "../../parts/discard-dialog.tsx";
import { signOut } from "../../session/leave.ts";
import { hasUnsaved } from "../../session/unsaved.ts";

interface SignOut {
  readonly startSignOut: () => void;
  readonly isSigningOut: boolean;
  /** To be shown beside what starts it. */
  readonly dialogs: ReactNode;
}

/** Asks before unsaved work is lost, and reports if the session could not be ended: another person may use this browser next. */
export function useSignOut(): SignOut {
  const [shown, setShown] = useState<"question" | "failure">();
  const leave = useMutation({ mutationFn: () => signOut(), onError: () => setShown("failure") });
  const close = () => setShown(undefined);
  const discard = () => {
    close();
    leave.mutate();
  };
  const dialogs = (
    <>
      <DiscardDialog
        open={shown === "question"}
        title="Sign out without saving"
        description="Your changes on this page are not saved, and are lost when you sign out."
        keep="Stay on this page"
        onKeep={close}
        discard="Discard changes and sign out"
        onDiscard={discard}
      />
      <Dialog open={shown === "failure"} onClose={close} title="You are still signed in">
        <DialogForm
          action="Sign out"
          isWorking={leave.isPending}
          error={leave.error}
          onSubmit={leave.mutate}
          onCancel={close}
        >
          {null}
        </DialogForm>
      </Dialog>
    </>
  );
  return {
    startSignOut: () => (hasUnsaved() ? setShown("question") : leave.mutate()),
    isSigningOut: leave.isPending,
    dialogs,
  };
}
