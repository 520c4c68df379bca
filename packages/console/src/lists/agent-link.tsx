import { Link } from "@tanstack/react-router";
import { OutsideText } from "../parts/outside-text.tsx";
import { textLinkClass } from "../parts/text-link.ts";
import { useAgentName } from "./use-agent-name.ts";

/** A link to an agent's page by its id, showing its name. */
export function AgentLink({ id }: { readonly id: string }) {
  const name = useAgentName()(id);
  return (
    <Link to="/agents/$agent" params={{ agent: name }} className={textLinkClass}>
      <OutsideText text={name} />
    </Link>
  );
}
