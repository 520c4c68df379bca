const channel = new BroadcastChannel("perch.organisation");

/** Signing in replaces the one cookie of all tabs. The others learn to which organisation it leads now. */
export const tellOtherTabs = (organisationId: string): void => channel.postMessage(organisationId);

export const onToldByOtherTab = (listener: (organisationId: unknown) => void): void =>
  channel.addEventListener("message", ({ data }) => listener(data));
