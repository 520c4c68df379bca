import { type Accounts, openAccounts } from "@perch/testkit/console/accounts.ts";
import { visit } from "@perch/testkit/console/browser.ts";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { defineReach, type World } from "./reach.ts";

interface Prepared {
  readonly accounts: Accounts;
  readonly connection: string;
  /** A key for each action on keys. */
  readonly keys: Readonly<Record<"changed" | "rotated" | "enrolled" | "revoked", string>>;
}

async function prepare({ perch, server, shop }: World): Promise<Prepared> {
  const accounts = await openAccounts(perch, server.url, `${shop.toolUrl}/orders`, "desk");
  const createKey = async (name: string) => (await perch.keys.create({ name, role: "viewer" })).id;
  return {
    accounts,
    connection: await accounts.invite("anna"),
    keys: {
      changed: await createKey("changed"),
      rotated: await createKey("rotated"),
      enrolled: await createKey("enrolled"),
      revoked: await createKey("revoked"),
    },
  };
}

const go = ({ page }: World, path: string): Promise<void> => visit(page, `/console${path}`);
const press = (scope: Page | Locator, name: string): Promise<void> =>
  scope.getByRole("button", { name, exact: true }).click();
const dialogOf = ({ page }: World): Locator => page.getByRole("dialog");

/** Chooses from the menu of a key. */
async function chooseAction(world: World, key: string, item: string): Promise<Locator> {
  await go(world, `/keys/${key}`);
  await press(world.page, "More actions");
  await world.page.getByRole("menuitem", { name: item }).click();
  return dialogOf(world);
}

async function createSecret(world: World, path: string, name: string): Promise<void> {
  await go(world, path);
  await press(world.page, "Create secret");
  const dialog = dialogOf(world);
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Value").fill("a-value-of-a-test");
  await dialog.getByLabel("Hosts").fill("tracker.example");
  await press(dialog, "Create secret");
  await dialog.waitFor({ state: "hidden" });
}

async function openSecret(world: World, path: string, action: "Change" | "Delete", name: string): Promise<Locator> {
  await go(world, path);
  await press(world.page, `${action} secret ${name}`);
  return dialogOf(world);
}

async function changeSecret(world: World, path: string, name: string): Promise<void> {
  const dialog = await openSecret(world, path, "Change", name);
  await dialog.getByLabel("New value").fill("another-value-of-a-test");
  await press(dialog, "Save secret");
  await dialog.waitFor({ state: "hidden" });
}

async function deleteSecret(world: World, path: string, name: string): Promise<void> {
  await press(await openSecret(world, path, "Delete", name), "Delete secret");
}

const ofAgent = "/secrets?agent=desk";

export const reachAccess = defineReach<Prepared>({
  prepare,
  operations: {
    "GET /v1/keys": (world) => go(world, "/keys"),
    "GET /v1/keys/{key_id}": (world, { keys }) => go(world, `/keys/${keys.changed}`),
    "POST /v1/keys": async (world) => {
      await go(world, "/keys");
      await press(world.page, "Create key");
      await dialogOf(world).getByLabel("Name").fill("of a program");
      await press(dialogOf(world), "Create key");
      await press(dialogOf(world), "I have copied the key");
    },
    "PATCH /v1/keys/{key_id}": async (world, { keys }) => {
      await go(world, `/keys/${keys.changed}`);
      await press(world.page, "Change key");
      await dialogOf(world).getByLabel("Name").fill("of another program");
      await press(dialogOf(world), "Save key");
    },
    "POST /v1/keys/{key_id}/rotate": async (world, { keys }) => {
      await go(world, `/keys/${keys.rotated}`);
      await press(world.page, "Rotate key");
      await press(dialogOf(world), "Rotate key");
      await press(dialogOf(world), "I have copied the new key");
    },
    "POST /v1/keys/{key_id}/begin-mfa": async (world, { keys }) => {
      const dialog = await chooseAction(world, keys.enrolled, "Begin second factor");
      await press(dialog, "Create token");
      await press(dialog, "I have copied the token");
    },
    "DELETE /v1/keys/{key_id}": async (world, { keys }) =>
      press(await chooseAction(world, keys.revoked, "Revoke key"), "Revoke key"),

    "POST /v1/secrets": (world) => createSecret(world, "/secrets", "tracker_key"),
    "GET /v1/secrets": (world) => go(world, "/secrets"),
    "GET /v1/secrets/{secret_name}": async (world) =>
      void (await openSecret(world, "/secrets", "Change", "tracker_key")),
    "PATCH /v1/secrets/{secret_name}": (world) => changeSecret(world, "/secrets", "tracker_key"),
    "DELETE /v1/secrets/{secret_name}": (world) => deleteSecret(world, "/secrets", "tracker_key"),
    "POST /v1/agents/{agent_id}/secrets": (world) => createSecret(world, ofAgent, "desk_key"),
    "GET /v1/agents/{agent_id}/secrets": (world) => go(world, ofAgent),
    "GET /v1/agents/{agent_id}/secrets/{secret_name}": async (world) =>
      void (await openSecret(world, ofAgent, "Change", "desk_key")),
    "PATCH /v1/agents/{agent_id}/secrets/{secret_name}": (world) => changeSecret(world, ofAgent, "desk_key"),
    "DELETE /v1/agents/{agent_id}/secrets/{secret_name}": (world) => deleteSecret(world, ofAgent, "desk_key"),

    "POST /v1/agents/{agent_id}/connections": async (world) => {
      await go(world, "/connections?agent=desk");
      await press(world.page, "Create link");
      await dialogOf(world).getByLabel("User").fill("ada");
      // The tool is filled in when the agent has been read.
      await expect.poll(() => dialogOf(world).getByLabel("Tool").inputValue()).not.toBe("");
      await press(dialogOf(world), "Create link");
      await press(dialogOf(world), "I have copied the link");
    },
    "GET /v1/agents/{agent_id}/connections": (world) => go(world, "/connections?agent=desk"),
    "GET /v1/agents/{agent_id}/connections/{connection_id}": (world, { connection }) =>
      go(world, `/connections/desk/${connection}`),
    "POST /v1/agents/{agent_id}/connections/{connection_id}/revoke": async (world, { connection }) => {
      await go(world, `/connections/desk/${connection}`);
      await press(world.page, "Revoke connection");
      await press(dialogOf(world), "Revoke connection");
    },

    "POST /v1/providers": async (world) => {
      await go(world, "/models");
      await press(world.page, "Create provider");
      const dialog = dialogOf(world);
      await dialog.getByLabel("Name").fill("gateway");
      await dialog.getByLabel("The key", { exact: true }).fill("sk-a-key-of-a-test");
      await press(dialog, "Create provider");
      await dialog.waitFor({ state: "hidden" });
    },
    "GET /v1/models": (world) => go(world, "/models"),
    "GET /v1/providers": (world) => go(world, "/models"),
    "GET /v1/providers/{provider_name}": async (world) => {
      await go(world, "/models");
      await press(world.page, "Change provider gateway");
    },
    "PATCH /v1/providers/{provider_name}": async (world) => {
      await go(world, "/models");
      await press(world.page, "Change provider gateway");
      await dialogOf(world).getByLabel("Models").fill("small");
      await press(dialogOf(world), "Save provider");
    },
    "DELETE /v1/providers/{provider_name}": async (world) => {
      await go(world, "/models");
      await press(world.page, "Delete provider gateway");
      await press(dialogOf(world), "Delete provider");
    },
  },
  end: ({ accounts }) => accounts.close(),
});
