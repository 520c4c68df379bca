import type { Me } from "@perch/sdk";

interface MayNotProps {
  /** "create agents" */
  readonly what: string;
  readonly permission: Me["key"]["permissions"][number];
}

/** Why a page that was opened by its address does not do what it is for. */
export const MayNot = ({ what, permission }: MayNotProps) => (
  <p className="text-muted">
    You may not {what}: that needs the permission <code className="font-mono">{permission}</code>. Ask somebody with the
    role admin for it.
  </p>
);
