import type { Scan } from '../contract/resources/scan.ts';
import type { LimitName } from '../limits.ts';
import type { Span } from '../net/scan-targets.ts';
import { methods } from '../rpc/methods.ts';
import type { ScannedHost, ScannedService } from '../store/store.ts';
import type { Certificate } from './certificate.ts';

/** A scan to run, with validated and merged targets. */
export interface ScanJob {
  readonly engine: Scan['engine'];
  readonly spans: readonly Span[];
  /** Ports to probe, distinct and in ascending order. */
  readonly ports: readonly number[];
  /** Maximum probes per second. */
  readonly rate: number;
  /** Path of the program, for the engine `nmap`. */
  readonly nmap?: string;
}

/** An open port. */
export interface FoundService extends Omit<ScannedService, 'certificate_names'> {
  readonly transport: 'tcp';
  readonly certificate?: Certificate;
}

/** A host that answered, after all of its ports were probed. */
export interface FoundHost extends Omit<ScannedHost, 'services'> {
  readonly services: readonly FoundService[];
}

export interface ScanCounts {
  readonly hosts_done: number;
  readonly probes_done: number;
  readonly hosts_up: number;
  /** Open ports, including skipped ones. */
  readonly services_found: number;
  /** Open ports beyond limits.maxScanServicesPerHost. */
  readonly services_skipped: number;
  /** Open ports beyond limits.maxScanBannersPerHost. Their services were not identified. */
  readonly banners_skipped: number;
}

export type ScanEnd =
  | { readonly outcome: 'completed' | 'cancelled' }
  | { readonly outcome: 'failed'; readonly error: string; readonly limit?: LimitName };

export interface ScanNews {
  readonly counts: ScanCounts;
  /** Hosts since the previous update, each once; at most `maxHostsAtOnce`. */
  readonly hosts: readonly FoundHost[];
  /** The end of the scan. Present only in the last update, when the scan has stopped and everything was reported. */
  readonly end?: ScanEnd;
}

/**
 * Runs scans one at a time, in a separate thread.
 *
 * Pace: never more probes per second than the rate of the job. Memory: bounded for any responses; unfetched
 * hosts pause the scan. Safety: only the addresses of the job and the name servers of the system are
 * contacted.
 */
export interface Scanner {
  /** Starts a scan. Throws CONFLICT while another scan is running or has unfetched updates. */
  begin(job: ScanJob): Promise<void>;
  /** Waits for an update of the scan, at most `newsEveryMs`. Only one call may wait at a time. */
  news(): Promise<ScanNews>;
  /** Ends the scan. Resolves when its sockets and processes are closed; the end is reported by `news`. */
  cancel(): Promise<void>;
}

export const scannerMethods = methods<Scanner>()(['begin', 'news', 'cancel']);

/**
 * Maximum interval between two results of `news`, in milliseconds. The interval is not shorter, because each update
 * flushes the database and is sent to all subscribers.
 */
export const newsEveryMs = 250;
export const maxHostsAtOnce = 256;
