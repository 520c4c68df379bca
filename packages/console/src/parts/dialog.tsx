import { type ReactNode, Suspense, useState } from "react";
import { lazyPage } from "./lazy-page.tsx";

const ShownDialog = lazyPage(() => import("./shown-dialog.tsx"), "ShownDialog");

export interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** One sentence about the action. */
  readonly description?: ReactNode;
  /** Only its own buttons close it: it shows a value that cannot be shown again, or waits for one. */
  readonly isFirm?: boolean;
  readonly children: ReactNode;
}

/** A dialog whose code loads when one is first opened. It stays mounted then, and gives the focus back when it closes. */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(props.open);
  if (props.open && !wasOpen) setWasOpen(true);
  return (
    wasOpen && (
      <Suspense fallback={null}>
        <ShownDialog {...props} />
      </Suspense>
    )
  );
}
