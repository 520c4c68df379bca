import { EmptyState } from "../parts/empty-state.tsx";
import { OutsideText } from "../parts/outside-text.tsx";

/** Shown if the address names an agent that cannot be found. */
export const NoSuchAgent = ({ agent }: { readonly agent: string }) => (
  <EmptyState title="There is no such agent">
    <p>
      No agent <OutsideText text={agent} className="font-mono text-table" /> can be reached. It may have been deleted,
      or belong to another organisation. Choose another one in the filters above.
    </p>
  </EmptyState>
);
