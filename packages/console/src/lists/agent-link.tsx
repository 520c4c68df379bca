import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { agentNamesByIdQuery } from "../api/agents-queries.ts";
import { OutsideText } from "../parts/outside-text.tsx";

/** An agent by its name, of which only the id is known, and the way to its page. */
export function AgentLink({ id }: { readonly id: string }) {
  const { data: names } = useQuery(agentNamesByIdQuery);
  return (
    <Link to="/agents/$agent" params={{ agent: names?.get(id) ?? id }} className="text-accent hover:underline">
      <OutsideText text={names?.get(id) ?? id} />
    </Link>
  );
}
