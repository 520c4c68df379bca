import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { classNames } from "./class-names.ts";

export const controlClass =
  "w-full rounded border border-control-line bg-surface px-2 py-1 text-body text-text placeholder:text-muted aria-invalid:border-danger";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly problem?: string | undefined;
  readonly children: (ids: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ReactNode;
}

/** A labelled control with a hint and, if its value is wrong, what to do about it. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium text-table [overflow-wrap:anywhere]">
        {label}
      </label>
      {children({ id, "aria-describedby": `${id}-hint`, "aria-invalid": problem !== undefined })}
      <p id={`${id}-hint`} className={classNames("text-small", problem ? "text-danger" : "text-muted")}>
        {problem ?? hint}
      </p>
    </div>
  );
}

export const TextInput = ({ className, ...rest }: InputHTMLAttributes<HTMLInputElement>) => (
  <input
    type="text"
    autoComplete="off"
    spellCheck={false}
    {...rest}
    className={classNames(controlClass, "h-8", className)}
  />
);

export const TextArea = ({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <textarea {...rest} className={classNames(controlClass, "min-h-20", className)} />
);

/** The browser's own control, which works with any keyboard, screen reader and phone. */
export const Select = ({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) => (
  <select {...rest} className={classNames(controlClass, "h-8 w-auto!", className)} />
);
