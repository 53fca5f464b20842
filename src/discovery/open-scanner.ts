import { ServiceError } from '../errors.ts';
import { ConnectScan, type ConnectScanOptions } from './connect-scan.ts';
import { NmapScan, TooMuchOutput } from './nmap-scan.ts';
import { safeText } from './safe-text.ts';
import { ScanResults } from './scan-results.ts';
import type { ScanJob, ScanNews, Scanner } from './scanner.ts';

interface Running {
  readonly engine: { run(): Promise<void>; cancel(): void };
  readonly findings: ScanResults;
  /** Resolves when the scan has stopped. */
  readonly done: Promise<void>;
  cancelled: boolean;
}

export interface ScannerOptions extends ConnectScanOptions {
  /** Maximum bytes of nmap's output. Default: limits.maxNmapOutputBytes. */
  readonly maxNmapOutputBytes?: number;
}

/** Returns a scanner that runs in the calling thread. */
export function openScanner(options: ScannerOptions = {}): Scanner {
  return new OpenScanner(options);
}

class OpenScanner implements Scanner {
  readonly #options: ScannerOptions;
  #running: Running | undefined;

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  async begin(job: ScanJob): Promise<void> {
    if (this.#running !== undefined) throw new ServiceError('CONFLICT', 'another scan is running');
    const findings = new ScanResults();
    const engine =
      job.engine === 'nmap'
        ? new NmapScan(job, findings, this.#options.maxNmapOutputBytes)
        : new ConnectScan(job, findings, this.#options);
    const done = engine.run().then(
      () => findings.end({ outcome: running.cancelled ? 'cancelled' : 'completed' }),
      (error: Error) =>
        findings.end({
          outcome: 'failed',
          error: safeText(error.message, 300) ?? error.name,
          ...(error instanceof TooMuchOutput ? { limit: 'maxNmapOutputBytes' } : {}),
        }),
    );
    const running: Running = { engine, findings, done, cancelled: false };
    this.#running = running;
  }

  async news(): Promise<ScanNews> {
    if (this.#running === undefined) throw new ServiceError('NOT_FOUND', 'there is no scan');
    const news = await this.#running.findings.news();
    if (news.end !== undefined) this.#running = undefined;
    return news;
  }

  async cancel(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.cancelled = true;
    running.engine.cancel();
    running.findings.release();
    await running.done;
  }
}
