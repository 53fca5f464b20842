import type { Scan } from '../contract/resources/scan.ts';
import type { LimitName } from '../limits.ts';
import { methods } from '../rpc/methods.ts';
import type { Certificate } from './certificate.ts';
import type { Span } from './targets.ts';

/** What is to be scanned: checked and merged before. */
export interface ScanJob {
  readonly engine: Scan['engine'];
  readonly spans: readonly Span[];
  /** Ascending, each once. */
  readonly ports: readonly number[];
  /** Probes a second at most. */
  readonly rate: number;
  /** Path of the program, for the engine `nmap`. */
  readonly nmap?: string;
}

/** An open port. */
export interface FoundService {
  readonly port: number;
  readonly transport: 'tcp';
  readonly name?: string;
  readonly product?: string;
  readonly version?: string;
  readonly certificate?: Certificate;
}

/** A host that answered; all of its ports have been asked. */
export interface FoundHost {
  readonly ip: string;
  /** Epoch milliseconds of its last answer. */
  readonly at: number;
  /** Lower case, without a final dot. */
  readonly hostnames: readonly string[];
  readonly mac?: string;
  readonly os?: string;
  readonly services: readonly FoundService[];
  /** Ports that refused. */
  readonly closed: Uint16Array;
}

export interface ScanCounts {
  readonly hosts_done: number;
  readonly probes_done: number;
  readonly hosts_up: number;
  /** Open ports, those that were skipped included. */
  readonly services_found: number;
  /** Open ports beyond limits.maxScanServicesPerHost of one host. */
  readonly services_skipped: number;
  /** Open ports beyond limits.maxScanBannersPerHost of one host, which were not asked what they offer. */
  readonly banners_skipped: number;
}

export type ScanEnd =
  | { readonly outcome: 'completed' | 'cancelled' }
  | { readonly outcome: 'failed'; readonly error: string; readonly limit?: LimitName };

export interface ScanNews {
  readonly counts: ScanCounts;
  /** Since the last news, each host once; at most `maxHostsAtOnce`. */
  readonly hosts: readonly FoundHost[];
  /** Present with the last news: nothing of the scan goes on, and all of it has been told. */
  readonly end?: ScanEnd;
}

/**
 * Scans, in a thread of its own; one at a time.
 *
 * Pace: never more probes in a second than the job's rate. Memory: bounded, whatever answers; hosts that nobody asks
 * for hold the scan up. Safety: nothing is contacted but the job's addresses and the system's name servers.
 */
export interface Scanner {
  /** CONFLICT while another scan goes on or has news that were not fetched. */
  begin(job: ScanJob): Promise<void>;
  /** Waits for news of the scan; one call at a time. They come as they are, at most every `newsEveryMs`. */
  news(): Promise<ScanNews>;
  /** Ends the scan. Resolves when its sockets and processes are gone; news tell of the end. */
  cancel(): Promise<void>;
}

export const scannerMethods = methods<Scanner>()(['begin', 'news', 'cancel']);

/** Four times a second: each is a flush of the database and a message to all who watch. */
export const newsEveryMs = 250;
export const maxHostsAtOnce = 256;
