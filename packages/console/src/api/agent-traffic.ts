/** The runs of an agent, as its row in the list of agents shows them. */
export interface AgentTraffic {
  readonly runs: number;
  /** The rate over all runs of the range. */
  readonly errorRate: number;
  readonly throughput: readonly (number | null)[];
  readonly errorRates: readonly (number | null)[];
}

export const intervalMinutes = { "1m": 1, "5m": 5, "1h": 60, "1d": 1440 } as const;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** `throughput` is in requests per minute. The API reports an error rate of 0 for an interval without runs, where nothing was measured. */
export function trafficOf(throughput: readonly number[], errorRates: readonly number[], minutes: number): AgentTraffic {
  const runs = Math.round(sum(throughput) * minutes);
  const failed = sum(throughput.map((perMinute, index) => perMinute * minutes * (errorRates[index] ?? 0)));
  const orGap = (values: readonly number[]) => values.map((value, index) => (throughput[index] ? value : null));
  return {
    runs,
    errorRate: runs === 0 ? 0 : failed / runs,
    throughput: orGap(throughput),
    errorRates: orGap(errorRates),
  };
}
