import { EventsMethods } from "../generated-resources.ts";
import type { RequestOf } from "../operation-parts.ts";
import type { RequestOptions } from "../options.ts";
import { sleep } from "../time-limits.ts";
import type { PerchEvent } from "../webhook-event.ts";

/** Options of `events.follow`. */
export interface FollowEventsOptions
  extends Pick<NonNullable<RequestOf<"GET /v1/events">["query"]>, "type" | "agent_id"> {
  /** Events at this time or later. The default is now. */
  readonly since?: Date | undefined;
  /**
   * Seconds between two requests. Each counts against the rate limit.
   *
   * @defaultValue `2`
   */
  readonly intervalSeconds?: number | undefined;
}

/** Events appear a little after their timestamp, so each request goes back this far. */
const overlapMs = 30_000;

/** Events of the organisation, whether or not a webhook is subscribed to them. */
export class Events extends EventsMethods {
  /**
   * New events, each once, until you leave the loop or abort the `signal`. It polls the list of events, so Perch need not be able to reach you: for
   * development, and for receivers behind a firewall.
   *
   * `GET /v1/events`
   */
  async *follow(wanted: FollowEventsOptions = {}, options: RequestOptions = {}): AsyncGenerator<PerchEvent, void> {
    const { since, intervalSeconds = 2, ...filter } = wanted;
    // Times are the server's, because the clock here may be wrong.
    let latestMs = since?.getTime();
    const look = async (): Promise<PerchEvent[]> => {
      const fromMs = latestMs === undefined ? undefined : Math.max(since?.getTime() ?? 0, latestMs - overlapMs);
      const start_time = fromMs === undefined ? undefined : new Date(fromMs).toISOString();
      return (await this.list({ ...filter, start_time }, options).toArray()).reverse() as PerchEvent[];
    };
    let known = new Map<string, number>();
    if (!since) {
      const [newest] = (await this.list({ ...filter, limit: 1 }, options)).data;
      if (newest) latestMs = Date.parse(newest.created_at);
      if (newest) known = new Map((await look()).map(({ id, created_at }) => [id, Date.parse(created_at)]));
    }
    for (;;) {
      for (const event of await look()) {
        const atMs = Date.parse(event.created_at);
        latestMs = Math.max(latestMs ?? atMs, atMs);
        if (known.has(event.id)) continue;
        known.set(event.id, atMs);
        yield event;
      }
      const keptFromMs = (latestMs ?? 0) - overlapMs;
      known = new Map([...known].filter(([, atMs]) => atMs >= keptFromMs));
      await sleep(intervalSeconds * 1000, options.signal);
    }
  }
}
