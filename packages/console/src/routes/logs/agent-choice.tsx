import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../parts/empty-state.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";

/** Names are fetched up to this number; of more agents one is typed. */
const maxNames = 100;

/** Each agent has a log of its own. */
export const AgentChoice = ({ names }: { readonly names: readonly string[] }) =>
  names.length === 0 ? (
    <EmptyState title="No agents yet">
      <p>
        Every agent has a log: what its runs did, and what its tools add to it. Create one on the page{" "}
        <Link to="/agents" className="text-accent underline">
          Agents
        </Link>
        , and its log is here.
      </p>
    </EmptyState>
  ) : (
    <div className="p-4">
      <h2 className="pb-2 text-body">Whose log?</h2>
      <ul className="max-w-xl text-table">
        {names.map((name) => (
          <li key={name} className="border-line border-b">
            <Link
              to="/logs"
              search={((before: object) => ({ ...before, agent: name })) as never}
              className="block px-2 py-1.5 hover:bg-sunken"
            >
              <OutsideText text={name} />
            </Link>
          </li>
        ))}
      </ul>
      {names.length >= maxNames && (
        <p className="pt-2 text-muted text-table">There are more agents. Write the name of one into the filter.</p>
      )}
    </div>
  );
