import type { ReactNode } from "react";

interface CheckProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export const Check = ({ label, hint, checked, onChange }: CheckProps) => (
  <label className="flex items-start gap-2">
    <input
      type="checkbox"
      className="mt-0.5 size-4 accent-accent"
      checked={checked}
      onChange={({ target }) => onChange(target.checked)}
    />
    <span>
      <span className="font-medium text-table">{label}</span>
      {hint !== undefined && <span className="block text-muted text-small">{hint}</span>}
    </span>
  </label>
);
