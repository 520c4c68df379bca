import { Menu, MenuChoices } from "../../parts/menu.tsx";
import { storeTheme, type Theme, useTheme } from "../theme.ts";
import { BarButton } from "./bar-button.tsx";

const choices = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "system", label: "As the system" },
] as const;

const icons = { light: "sun", dark: "moon", system: "display" } as const;

export function ThemeMenu() {
  const theme = useTheme();
  return (
    <Menu trigger={<BarButton icon={icons[theme]} aria-label="Theme" title="Theme" className="px-2" />}>
      <MenuChoices<Theme> value={theme} onChoose={storeTheme} choices={choices} />
    </Menu>
  );
}
