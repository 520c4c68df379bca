import { CopyButton } from "../../parts/copy-button.tsx";
import { useMe } from "../../session/session.ts";

/** No role includes the permission, so no member of the organisation can grant it. */
export function NotOperator() {
  const { organisation } = useMe();
  const command = `perch-server create-key --organisation ${organisation.id} --operate`;
  return (
    <div className="flex max-w-3xl flex-col gap-3 text-table">
      <p className="text-muted">
        You may not see the installation: that needs the permission <code className="font-mono">operate</code>, which is
        in no role. Only the operator of this server can grant it, with this command on the server:
      </p>
      <p className="flex items-start gap-1 rounded border border-line bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 font-mono [overflow-wrap:anywhere]">{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
      <p className="text-muted">
        It prints a key that can also read this organisation like a viewer, and change nothing.
      </p>
    </div>
  );
}
