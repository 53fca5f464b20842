import { onTestFinished } from 'vitest';
import { openScanner, type ScannerOptions } from '../../src/discovery/open-scanner.ts';
import type { FoundHost, ScanCounts, ScanEnd, ScanJob, Scanner } from '../../src/discovery/scanner.ts';
import { parseTargets } from '../../src/net/scan-targets.ts';

const loopback = ['127.0.0.0/8', '::1/128'];

export function job(targets: readonly string[], ports: readonly number[], more: Partial<ScanJob> = {}): ScanJob {
  const sorted = [...ports].sort((a, b) => a - b);
  return { engine: 'connect', spans: parseTargets(targets, loopback), ports: sorted, rate: 1000, ...more };
}

export interface Scanned {
  readonly hosts: readonly FoundHost[];
  readonly counts: ScanCounts;
  readonly end: ScanEnd;
}

/** Collects all messages until the end. */
export async function follow(scanner: Scanner): Promise<Scanned> {
  const hosts: FoundHost[] = [];
  for (;;) {
    const news = await scanner.news();
    hosts.push(...news.hosts);
    if (news.end !== undefined) return { hosts, counts: news.counts, end: news.end };
  }
}

/** Opens a scanner in this thread that queries only the given name server. */
export function scanner(options: ScannerOptions = {}): Scanner {
  const opened = openScanner({ nameServers: ['127.0.0.1:9'], ...options });
  onTestFinished(() => opened.cancel());
  return opened;
}

export async function scan(what: ScanJob, options: ScannerOptions = {}): Promise<Scanned> {
  const opened = scanner(options);
  await opened.begin(what);
  return follow(opened);
}
