import { Link } from "@tanstack/react-router";
import { EmptyState } from "../parts/empty-state.tsx";
import { useTabTitle } from "../parts/page.tsx";
import { textLinkClass } from "../parts/text-link.ts";

export function NotFound() {
  useTabTitle("No such page");
  return (
    <main>
      <EmptyState heading="h1" title="There is no page at this address">
        <p>
          Check the address, or go to the{" "}
          <Link to="/agents" className={textLinkClass}>
            agents
          </Link>
          .
        </p>
      </EmptyState>
    </main>
  );
}
