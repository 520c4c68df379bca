import { Icon } from "../../../parts/icon.tsx";
import { permissions, permissionWords } from "../../../session/permission-words.ts";

/** All permissions, with a mark at the granted ones. */
export const PermissionList = ({ held }: { readonly held: readonly string[] }) => (
  <ul className="flex flex-col gap-1 text-table">
    {permissions
      .filter((name) => name !== "operate" || held.includes(name))
      .map((name) => {
        const isHeld = held.includes(name);
        return (
          <li key={name} className="flex items-start gap-2">
            <Icon
              name={isHeld ? "check" : "cross"}
              className={`mt-0.5 size-4 shrink-0 ${isHeld ? "text-accent" : "text-muted"}`}
            />
            <span className={isHeld ? "" : "text-muted"}>
              <code className="font-mono">{name}</code>: {isHeld ? "you may" : "you may not"} {permissionWords[name]}.
            </span>
          </li>
        );
      })}
  </ul>
);
