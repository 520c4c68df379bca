import type { MfaEnrolmentToken } from "@perch/sdk";
import { perch } from "../../../api/perch.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogActions } from "../../../parts/dialog-actions.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { ShownValue } from "../../../session/shown-value.tsx";
import { useShownOnce } from "../../../session/use-shown-once.ts";
import type { KeyDialogProps } from "./key-dialog.ts";

/** A token with which the holder of the key enrols a second factor, if the settings refuse enrolment without one. */
export function BeginMfaDialog({ apiKey, open, onClose }: KeyDialogProps) {
  const token = useShownOnce<MfaEnrolmentToken>(onClose);
  const { value: begun, close } = token;
  return (
    <Dialog
      open={open}
      onClose={close}
      isFirm={token.isFirm}
      title={`Begin a second factor for ${visibleText(apiKey.name)}`}
      description="Creates a token with which the holder of this key can enrol an authenticator app. Give it only to that person, and not together with the key."
    >
      {begun ? (
        <ShownValue what="the token" value={begun.token} onClose={close}>
          <p className="text-muted text-table">
            It works only with this key, until {exactTime(new Date(begun.expires_at))}. The holder gives it as the code
            when enrolling: on the page Settings, Second factor, or with <code className="font-mono">POST /v1/mfa</code>{" "}
            in <code className="font-mono">X-MFA-Code</code>.
          </p>
        </ShownValue>
      ) : (
        <>
          {token.error && <ErrorNote error={token.error} />}
          <DialogActions>
            <Button kind="quiet" disabled={token.isMaking} onClick={close}>
              Cancel
            </Button>
            <Button
              kind="primary"
              working={token.isMaking}
              onClick={() => token.make(() => perch.keys.beginMfa(apiKey.id))}
            >
              Create token
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}
