import { useQuery } from "@tanstack/react-query";
import { environmentsQuery } from "../../api/environments-query.ts";
import { Menu, MenuChoices } from "../../parts/menu.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { useFrameSearch } from "../use-frame-search.ts";
import { BarButton } from "./bar-button.tsx";

const all = "";

export function EnvironmentMenu() {
  const [{ env = all }, change] = useFrameSearch();
  const { data = [] } = useQuery(environmentsQuery);
  const names = env === all || data.includes(env) ? data : [...data, env];
  const choices = [
    { value: all, label: "All environments" },
    ...names.map((name) => ({ value: name, label: <OutsideText text={name} /> })),
  ];
  const shown = env === all ? "All environments" : env;
  return (
    <Menu
      trigger={
        <BarButton opens aria-label={`Environment: ${shown}`}>
          <OutsideText text={shown} className="truncate" />
        </BarButton>
      }
    >
      <MenuChoices value={env} onChoose={(chosen) => change({ env: chosen || undefined })} choices={choices} />
    </Menu>
  );
}
