import { Icon } from "../../parts/icon.tsx";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../../parts/menu.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { switchAddress } from "../../session/leave.ts";
import { actorName } from "../../session/person-name.ts";
import { useMe } from "../../session/session.ts";
import { BarButton } from "./bar-button.tsx";
import { useSignOut } from "./use-sign-out.tsx";

/** The organisation, the signed-in person or key, the person's other organisations, and signing out. */
export function OrganisationMenu() {
  const me = useMe();
  const { organisation, session } = me;
  const { startSignOut, isSigningOut, dialogs } = useSignOut();
  const others = session?.organisations.filter(({ id }) => id !== organisation.id) ?? [];
  const trigger = (
    <BarButton opens aria-label={`Organisation: ${organisation.name}`} className="!text-text font-medium">
      {isSigningOut ? "Signing out" : <OutsideText text={organisation.name} className="truncate" />}
    </BarButton>
  );
  return (
    <>
      <Menu trigger={trigger} align="start">
        <MenuLabel>
          Signed in as <OutsideText text={actorName(me)} />
        </MenuLabel>
        {others.length > 0 && <MenuLine />}
        {others.map(({ id, name }) => (
          <MenuItem key={id} onSelect={() => location.assign(switchAddress(id, "/console/"))}>
            Switch to <OutsideText text={name} />
          </MenuItem>
        ))}
        {session && (
          <>
            <MenuLine />
            <MenuItem onSelect={startSignOut}>
              <Icon name="sign_out" />
              Sign out
            </MenuItem>
          </>
        )}
      </Menu>
      {dialogs}
    </>
  );
}
