import { type FormEvent, useState, useSyncExternalStore } from "react";
import { type CodeRequest, currentCodeRequest, subscribeToCodeRequest } from "../api/second-factor.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { SecondFactorField } from "../parts/second-factor-field.tsx";

function CodeForm({ request }: { readonly request: CodeRequest }) {
  const [code, setCode] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code !== "") request.answer(code);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <SecondFactorField code={code} onChange={setCode} problem={request.problem} />
      <div className="flex justify-end gap-2">
        <Button kind="quiet" onClick={() => request.answer(undefined)}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" disabled={code === ""}>
          Send code
        </Button>
      </div>
    </form>
  );
}

/** Any change can need a second factor, by the settings of an agent: it is asked for here, over whatever the page shows. */
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
