import { Link } from "@tanstack/react-router";
import { OutsideText } from "../parts/outside-text.tsx";
import { textLinkClass } from "../parts/text-link.ts";
import { useAgentName } from "./use-agent-name.ts";

/** An agent by its name, of which only the id is known, and the way to its page. */
export function AgentLink({ id }: { readonly id: string }) {
  const name = useAgentName()(id);
  return (
    <Link to="/agents/$agent" params={{ agent: name }} className={textLinkClass}>
      <OutsideText text={name} />
    </Link>
  );
}
