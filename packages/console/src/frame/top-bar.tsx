import { useMe } from "../session/session.ts";

export function TopBar() {
  const { organisation } = useMe();
  return (
    <div className="flex h-12 shrink-0 items-center gap-3 border-line border-b px-4 text-table">
      <span className="font-medium">{organisation.name}</span>
    </div>
  );
}
