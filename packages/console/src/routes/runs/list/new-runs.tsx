import { runsPerPage } from "../../../api/run-list-queries.ts";
import { Button } from "../../../parts/button.tsx";

interface NewRunsProps {
  readonly count: number;
  readonly onShow: () => void;
}

/** The list keeps its place; what is new waits until somebody wants to see it. */
export const NewRuns = ({ count, onShow }: NewRunsProps) => (
  <div role="status" className="pointer-events-none absolute inset-x-0 top-9 z-20 flex justify-center">
    {count > 0 && (
      <Button kind="primary" className="pointer-events-auto h-7 rounded-full shadow-xl" onClick={onShow}>
        {count >= runsPerPage ? `${runsPerPage} or more` : count} new
      </Button>
    )}
  </div>
);
