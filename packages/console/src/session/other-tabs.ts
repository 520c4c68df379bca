const channel = new BroadcastChannel("perch.organisation");

/** Signing in replaces the one cookie of all tabs. This reports the new organisation to the other tabs. */
export const tellOtherTabs = (organisationId: string): void => channel.postMessage(organisationId);

export const onToldByOtherTab = (listener: (organisationId: unknown) => void): void =>
  channel.addEventListener("message", ({ data }) => listener(data));
