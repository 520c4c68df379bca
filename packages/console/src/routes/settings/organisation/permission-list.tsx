import { Icon } from "../../../parts/icon.tsx";

/** What a permission lets somebody do, in words. */
const words: readonly (readonly [name: string, can: string])[] = [
  ["read", "see agents, versions, deployments, runs, logs, metrics, memory and webhooks"],
  ["write", "create, change, deploy, pause and run agents; add memories; manage webhooks and connected accounts"],
  ["delete", "delete agents, memories and webhooks"],
  ["manage", "manage keys, secrets, model providers and security; read the audit log; erase users' data"],
  ["approve", "decide on calls of tools that wait for a person, and answer questions of agents"],
  ["operate", "see the state of the whole installation"],
];

/** All permissions there are, with a mark at those that somebody has. */
export const PermissionList = ({ held }: { readonly held: readonly string[] }) => (
  <ul className="flex flex-col gap-1 text-table">
    {words
      .filter(([name]) => name !== "operate" || held.includes(name))
      .map(([name, can]) => {
        const isHeld = held.includes(name);
        return (
          <li key={name} className="flex items-start gap-2">
            <Icon
              name={isHeld ? "check" : "cross"}
              className={`mt-0.5 size-4 shrink-0 ${isHeld ? "text-accent" : "text-muted"}`}
            />
            <span className={isHeld ? "" : "text-muted"}>
              <code className="font-mono">{name}</code>: {isHeld ? "you may" : "you may not"} {can}.
            </span>
          </li>
        );
      })}
  </ul>
);
