import { Suspense, useState } from "react";
import { lazyPage } from "../../parts/lazy-page.tsx";
import { Menu, MenuChoices, MenuItem, MenuLine } from "../../parts/menu.tsx";
import { defaultRange, isNamedRange, type NamedRange, namedRanges, rangeLabel } from "../../parts/time-range.ts";
import { useFrameSearch } from "../use-frame-search.ts";
import { BarButton } from "./bar-button.tsx";

const CustomRangeDialog = lazyPage(() => import("./custom-range-dialog.tsx"), "CustomRangeDialog");

const choices = Object.entries(namedRanges).map(([value, { label }]) => ({ value: value as NamedRange, label }));

export function TimeRangeMenu() {
  const [{ range = defaultRange }, change] = useFrameSearch();
  const [isCustomOpen, setIsCustomOpen] = useState(false);
  const label = rangeLabel(range);
  return (
    <>
      <Menu
        trigger={
          <BarButton opens icon="clock" aria-label={`Time range: ${label}`}>
            <span className="truncate">{label}</span>
          </BarButton>
        }
      >
        <MenuChoices<string>
          value={isNamedRange(range) ? range : ""}
          onChoose={(chosen) => change({ range: chosen === defaultRange ? undefined : chosen })}
          choices={choices}
        />
        <MenuLine />
        <MenuItem onSelect={() => setIsCustomOpen(true)}>
          <span className="w-4" />
          Choose a range
        </MenuItem>
      </Menu>
      {isCustomOpen && (
        <Suspense fallback={null}>
          <CustomRangeDialog
            range={range}
            onClose={() => setIsCustomOpen(false)}
            onChoose={(chosen: string) => change({ range: chosen })}
          />
        </Suspense>
      )}
    </>
  );
}
