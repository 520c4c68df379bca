import { CopyButton } from "./copy-button.tsx";

/** An id that can be copied. It is shown in full, because users compare and paste ids. */
export const IdText = ({ id, what }: { readonly id: string; readonly what: string }) => (
  <span className="inline-flex max-w-full items-center gap-0.5">
    <code className="truncate font-mono text-small">{id}</code>
    <CopyButton text={id} what={what} />
  </span>
);
