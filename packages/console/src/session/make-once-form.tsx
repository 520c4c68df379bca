import type { ReactNode } from "react";
import { DialogForm } from "../parts/dialog-form.tsx";
import type { MadeOnce } from "./use-shown-once.ts";

interface MakeOnceFormProps<Value> {
  /** A verb with its object: "Create key". */
  readonly action: string;
  readonly canSubmit?: boolean;
  readonly made: MadeOnce<Value>;
  readonly make: () => Promise<Value>;
  readonly children: ReactNode;
}

/** The first step of a dialog that creates a secret, with `useShownOnce`. It cannot be cancelled once the request is sent. */
export const MakeOnceForm = <Value,>({ made, make, ...form }: MakeOnceFormProps<Value>) => (
  <DialogForm
    {...form}
    isWorking={made.isMaking}
    canCancel={!made.isMaking}
    error={made.error}
    onSubmit={() => made.make(make)}
    onCancel={made.close}
  />
);
