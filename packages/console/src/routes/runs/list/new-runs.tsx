import { useQuery, useQueryClient } from "@tanstack/react-query";
import { newRunsQuery, type RunListing, runPageQuery, runsPerPage } from "../../../api/run-list-queries.ts";
import { Button } from "../../../parts/button.tsx";

interface NewRunsProps {
  readonly listing: RunListing;
  readonly onShow: () => void;
}

/** The list does not move; new runs wait until the user wants to see them. */
export function NewRuns({ listing, onShow }: NewRunsProps) {
  const { data: first } = useQuery(runPageQuery(useQueryClient(), listing, undefined));
  const { data: count = 0 } = useQuery(newRunsQuery(listing, first));
  const show = () => {
    onShow();
    // The button disappears with the focus, so the focus moves to the list.
    requestAnimationFrame(() => document.querySelector<HTMLElement>("#page [role=grid]")?.focus());
  };
  return (
    <div role="status" className="h-8">
      {count > 0 && (
        <Button kind="plain" className="border-accent! text-accent!" onClick={show}>
          {count >= runsPerPage ? `${runsPerPage} or more` : count} new
        </Button>
      )}
    </div>
  );
}
