import { pathOf, type RequestParts } from "@perch/testkit/api-story/send.ts";
import type { Page, Response } from "playwright-core";
import {
  type Operation,
  type OperationKey,
  operationExamples,
  operations,
  routeOf,
} from "../../packages/contract/src/index.ts";

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The panel of the page at `/docs` with which a reader sends a request. */
export class RequestPanel {
  readonly #page: Page;
  readonly #url: string;

  private constructor(page: Page, url: string) {
    this.#page = page;
    this.#url = url;
  }

  /** Opens the panel, with the list of all operations at its side. The page already has a key. */
  static async open(page: Page, url: string): Promise<RequestPanel> {
    await page
      .getByRole("button", { name: /^Test Request/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Show sidebar" }).click();
    return new RequestPanel(page, url);
  }

  get #panel() {
    return this.#page.getByRole("dialog").last();
  }

  async #choose({ tag, summary }: Operation): Promise<void> {
    const item = this.#panel.getByRole("button", { name: new RegExp(`^${escaped(summary)}\\s*HTTP Method`) });
    if ((await item.count()) === 0)
      await this.#panel.getByRole("button", { name: new RegExp(`^${escaped(tag)}\\s*Open Group`) }).click();
    await item.click();
  }

  /** Replaces values that only this server knows, as a reader pastes them: ids and keys of its own answers. All others stay as offered. */
  async #paste(key: OperationKey, { params = {}, body }: RequestParts): Promise<void> {
    const offered = operationExamples[key]?.request ?? {};
    for (const [name, value] of Object.entries(params)) {
      if (offered.params?.[name] === value) continue;
      await this.#panel.locator(`tr#${name} [contenteditable]`).last().fill(value);
    }
    const isSecret = /^\/v1\/(mfa|keys\/revoke-leaked|console\/sessions)|\/confirm$/.test(routeOf(key).path);
    if (body !== undefined && isSecret) await this.#panel.locator(".cm-content").first().fill(JSON.stringify(body));
  }

  /** Chooses an operation, pastes ids, and presses Send. */
  async send(key: OperationKey, request: RequestParts): Promise<Response> {
    await this.#choose(operations[key]);
    await this.#panel.getByText(operations[key].summary, { exact: true }).last().waitFor();
    await this.#paste(key, request);
    const { method } = routeOf(key);
    const path = pathOf(key, { params: request.params ?? {} });
    const answered = this.#page.waitForResponse((response) => {
      const { pathname, origin } = new URL(response.url());
      return response.request().method() === method && pathname === path && origin === this.#url;
    });
    await this.#panel
      .getByRole("button", { name: new RegExp(`Send ${method} request`, "i") })
      .last()
      .click();
    return answered;
  }
}
