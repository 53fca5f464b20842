import type { Logger } from 'pino';
import type { LedgerStatus } from '../ledger/ledger.ts';

/** Writes a log line when a fault or a finding of the transparency log appears, and when it is resolved. */
export class FindingsLog {
  readonly #log: Pick<Logger, 'error' | 'info'>;
  #open: ReadonlyMap<string, string> = new Map();

  constructor(log: Pick<Logger, 'error' | 'info'>) {
    this.#log = log;
  }

  report({ health, findings }: Pick<LedgerStatus, 'health' | 'findings'>): void {
    const open = new Map<string, string>(findings.map(({ code, message }) => [code, message]));
    if (health.state === 'degraded') open.set(`degraded: ${health.fault}`, health.advice);
    for (const [finding, message] of open)
      if (!this.#open.has(finding)) this.#log.error({ finding, message }, 'the transparency log has a finding');
    for (const finding of this.#open.keys())
      if (!open.has(finding)) this.#log.info({ finding }, 'a finding of the transparency log is resolved');
    this.#open = open;
  }
}
