import { Link } from "@tanstack/react-router";
import { EmptyState } from "../parts/empty-state.tsx";

export const NotFound = () => (
  <EmptyState title="There is no page at this address">
    <p>
      Check the address, or go to the{" "}
      <Link to="/agents" className="text-accent underline">
        agents
      </Link>
      .
    </p>
  </EmptyState>
);
