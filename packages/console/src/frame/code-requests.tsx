import { useState, useSyncExternalStore } from "react";
import { type CodeRequest, currentCodeRequest, subscribeToCodeRequest } from "../api/second-factor.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { SecondFactorField } from "../parts/second-factor-field.tsx";

function CodeForm({ request }: { readonly request: CodeRequest }) {
  const [code, setCode] = useState("");
  return (
    <DialogForm
      action="Send code"
      canSubmit={code !== ""}
      onSubmit={() => request.answer(code)}
      onCancel={() => request.answer(undefined)}
    >
      <SecondFactorField code={code} onChange={setCode} problem={request.problem} />
    </DialogForm>
  );
}

/** Any change can need a second factor, depending on the agent's settings. The code is asked for here, over the current page. */
export function CodeRequests() {
  const request = useSyncExternalStore(subscribeToCodeRequest, currentCodeRequest);
  return (
    <Dialog
      open={request !== undefined}
      onClose={() => request?.answer(undefined)}
      title="Second factor"
      description="This change needs a code. Nothing has changed yet."
    >
      {request && <CodeForm request={request} />}
    </Dialog>
  );
}
