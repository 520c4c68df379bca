import { EventsMethods } from "../generated-resources.ts";
import type { RequestOf } from "../operation-parts.ts";
import type { RequestOptions } from "../options.ts";
import { sleep } from "../time-limits.ts";
import type { PerchEvent } from "../webhook-event.ts";

/** Which events to follow, and how. */
export interface FollowEvents extends Pick<NonNullable<RequestOf<"GET /v1/events">["query"]>, "type" | "agent_id"> {
  /** Events from this time on; from now on unless given. */
  readonly since?: Date | undefined;
  /**
   * Milliseconds between two looks. Each counts against the rate limit.
   *
   * @defaultValue `2000`
   */
  readonly intervalMs?: number | undefined;
}

/** An event appears a little after its time: so far back every look goes. */
const overlapMs = 30_000;

/** What happened, whether or not a webhook wanted it. */
export class Events extends EventsMethods {
  /**
   * Events as they happen, each once, without end: leave the loop, or abort the `signal`. It asks for the list again and again, so it needs no address that
   * Perch can reach: for development, and for a receiver that is behind a firewall.
   *
   * `GET /v1/events`
   */
  async *follow(wanted: FollowEvents = {}, options: RequestOptions = {}): AsyncGenerator<PerchEvent, void> {
    const { since, intervalMs = 2000, ...filter } = wanted;
    // Times are the server's: the clock here may be wrong.
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
      await sleep(intervalMs, options.signal);
    }
  }
}
