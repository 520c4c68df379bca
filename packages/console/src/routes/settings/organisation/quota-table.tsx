import type { Me } from "@perch/sdk";
import { classNames } from "../../../parts/class-names.ts";
import { Cell, RowName, Table, wideOnly } from "../../../parts/table.tsx";
import { type Closeness, closenessOf, closenessWords, formatUse, quotas, shareOf } from "./quota.ts";

const barColour: Record<Closeness, string> = { roomy: "bg-accent", close: "bg-warning", full: "bg-danger" };
const wordColour: Record<Closeness, string> = { roomy: "", close: "text-warning", full: "text-danger" };

const Bar = ({ share, closeness }: { readonly share: number; readonly closeness: Closeness }) => (
  <span aria-hidden="true" className="block h-1.5 w-full min-w-16 overflow-hidden rounded bg-line">
    <span
      className={classNames("block h-full", barColour[closeness])}
      style={{ width: `${Math.max(share * 100, share > 0 ? 1 : 0)}%` }}
    />
  </span>
);

/** The usage of each quota. The bar repeats the numbers. */
export const QuotaTable = ({ usage }: { readonly usage: NonNullable<Me["usage"]> }) => (
  <div className="-mx-4">
    <Table
      caption="Quotas of the organisation, and how much of them is used"
      columns={[
        { title: "Quota" },
        { title: "Used", className: "text-right" },
        { title: "Share", className: classNames(wideOnly, "w-2/5") },
      ]}
    >
      {quotas.map(({ name, title, hint }) => {
        const use = usage[name];
        const closeness = closenessOf(use);
        const words = closenessWords[closeness];
        return (
          <tr key={name}>
            <RowName>
              {title}
              {words && (
                <span className={classNames("ml-2 font-medium text-small", wordColour[closeness])}>{words}</span>
              )}
              <span className="block text-muted text-small">{hint}</span>
            </RowName>
            <Cell className="whitespace-nowrap text-right">
              <span className="font-mono">{formatUse(name, use.used)}</span>
              <span className="text-muted"> of {formatUse(name, use.limit)}</span>
              <span className="mt-1 block md:hidden">
                <Bar share={shareOf(use)} closeness={closeness} />
              </span>
            </Cell>
            <Cell className={wideOnly}>
              <Bar share={shareOf(use)} closeness={closeness} />
            </Cell>
          </tr>
        );
      })}
    </Table>
  </div>
);
