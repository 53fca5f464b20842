import { setTimeout as sleep } from 'node:timers/promises';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Report } from './report.ts';

/** After trouble the pause doubles up to this many times: a minute becomes a quarter of an hour. */
const maxBackoff = 16;

/** The longest that a timer takes, 24.8 days; past it Node's fire at once. */
const maxPauseMs = 2 ** 31 - 1;

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

export interface Watched {
  /** One audit; what is under way ends with the signal. */
  audit(signal: AbortSignal): Promise<Report>;
  tell(report: Report): void;
}

/**
 * Audits again and again, and tells each change of state once. It goes on after trouble of any kind, also after answers
 * that it must refuse, which may come from a proxy in between; it ends with the log's misbehaviour, or with SIGINT or
 * SIGTERM, and then as nothing had happened.
 */
export async function watch(intervalMs: number, { audit, tell }: Watched): Promise<ExitCode> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  for (const signal of stopSignals) process.once(signal, abort);
  let told = '';
  let backoff = 1;
  try {
    for (;;) {
      const report = await audit(stop.signal);
      // An audit that the stop cut short says nothing about the log.
      if (stop.signal.aborted && report.fault?.kind === 'unavailable') return exitCodes.ok;
      if (report.state !== told) tell(report);
      told = report.state;
      if (report.exit === exitCodes.misbehaviour) return report.exit;
      const pauseMs = Math.min(intervalMs * backoff, maxPauseMs);
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return exitCodes.ok;
      backoff = isTrouble(report) ? Math.min(2 * backoff, maxBackoff) : 1;
    }
  } finally {
    for (const signal of stopSignals) process.off(signal, abort);
  }
}

/** A head that is too old is an answer like any other. */
function isTrouble({ fault }: Report): boolean {
  return fault !== undefined && fault.code !== 'STALE_HEAD';
}
