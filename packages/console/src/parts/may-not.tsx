import type { Me } from "@perch/sdk";

interface MayNotProps {
  /** "create agents" */
  readonly what: string;
  readonly permission: Me["key"]["permissions"][number];
}

/** Explains why the user cannot use a page that was opened by its address. */
export const MayNot = ({ what, permission }: MayNotProps) => (
  <p className="text-muted">
    You may not {what}: that needs the permission <code className="font-mono">{permission}</code>. Ask a user with the
    role admin for it.
  </p>
);
