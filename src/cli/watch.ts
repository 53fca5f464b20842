import { setTimeout as sleep } from 'node:timers/promises';
import { type ExitCode, exitCodes } from '../service/exit-codes.ts';
import type { Report } from './report.ts';

/** Maximum factor for the pause after failed rounds: with a pause of a minute, 16 minutes. */
const maxBackoff = 16;

/** The longest delay of a Node timer, 24.8 days; longer timers fire immediately. */
const maxPauseMs = 2 ** 31 - 1;

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

export interface WatchCallbacks {
  /** Runs one audit; aborts its requests with the signal. */
  audit(signal: AbortSignal): Promise<Report>;
  print(report: Report): void;
}

/**
 * Audits repeatedly and reports each change of state once. Continues after unreachable services and rejected responses,
 * since a proxy may have caused the failure. Ends when the log misbehaves, or on SIGINT or SIGTERM; after a signal, the
 * exit code is `ok`.
 */
export async function watch(intervalMs: number, { audit, print }: WatchCallbacks): Promise<ExitCode> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  for (const signal of stopSignals) process.once(signal, abort);
  let reportedState = '';
  let backoff = 1;
  try {
    for (;;) {
      const report = await audit(stop.signal);
      // An audit that the signal interrupted has no result.
      if (stop.signal.aborted && report.fault?.kind === 'unavailable') return exitCodes.ok;
      if (report.state !== reportedState) print(report);
      reportedState = report.state;
      if (report.exit === exitCodes.misbehaviour) return report.exit;
      const pauseMs = Math.min(intervalMs * backoff, maxPauseMs);
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return exitCodes.ok;
      backoff = hasFailed(report) ? Math.min(2 * backoff, maxBackoff) : 1;
    }
  } finally {
    for (const signal of stopSignals) process.off(signal, abort);
  }
}

/** Returns whether a round failed. A head that is too old is a normal result and does not increase the pause. */
function hasFailed({ fault }: Report): boolean {
  return fault !== undefined && fault.code !== 'STALE_HEAD';
}
