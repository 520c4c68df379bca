import { getRouteApi } from "@tanstack/react-router";
import { classNames } from "../../../parts/class-names.ts";
import { Icon } from "../../../parts/icon.tsx";

const route = getRouteApi("/signed-in/agents");

interface SortHeaderProps {
  readonly field: "name" | "updated_at";
  readonly name: string;
  readonly className: string;
}

/** A column that the server can sort by. Pressing it again reverses the order. */
export function SortHeader({ field, name, className }: SortHeaderProps) {
  const { sort = "name" } = route.useSearch();
  const navigate = route.useNavigate();
  const isAscending = sort === field;
  const isDescending = sort === `-${field}`;
  // The first press sorts by the newest change, or by name from A to Z.
  const first = field === "name" ? field : (`-${field}` as const);
  const other = field === "name" ? (`-${field}` as const) : field;
  const next = sort === first ? other : first;
  return (
    <th
      scope="col"
      aria-sort={isAscending ? "ascending" : isDescending ? "descending" : "none"}
      className={classNames("px-2 font-medium", className)}
    >
      <button
        type="button"
        className="inline-flex items-center gap-1 rounded hover:text-text"
        onClick={() =>
          void navigate({
            search: (search) => ({ ...search, sort: next === "name" ? undefined : next }),
            replace: true,
          })
        }
      >
        {name}
        {(isAscending || isDescending) && (
          <Icon name="down" className={classNames("size-3", isAscending && "rotate-180")} />
        )}
      </button>
    </th>
  );
}
