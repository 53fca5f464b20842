import type { Scan } from '../contract/resources/scan.ts';
import { invalidField } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import { parsePorts } from '../net/scan-ports.ts';
import { countHosts, parseTargets } from '../net/scan-targets.ts';
import type { ScanJob } from './scanner.ts';

/** Limits that the operator sets for scans. */
export interface ScanOptions {
  /** CIDR blocks. */
  readonly allowedNetworks: readonly string[];
  /** Returns the current path of nmap; undefined if it is disabled or not installed. */
  nmap(): string | undefined;
}

export interface ScanPlan {
  readonly job: ScanJob;
  readonly hosts: number;
  readonly probes: number;
}

/** Validates a scan and returns its plan. @throws INVALID_REQUEST naming `targets.n`, `ports` or `engine` */
export function planScan(
  { targets, ports: portText, rate, engine }: Pick<Scan, 'targets' | 'ports' | 'rate' | 'engine'>,
  options: ScanOptions,
  limitReached: (limit: LimitName) => void = () => undefined,
): ScanPlan {
  const spans = parseTargets(targets, options.allowedNetworks, limitReached);
  const ports = parsePorts(portText);
  const hosts = countHosts(spans);
  const probes = hosts * ports.length;
  if (probes > limits.maxScanProbes) {
    limitReached('maxScanProbes');
    throw invalidField(
      'ports',
      `results in ${probes} probes (${ports.length} on each of ${hosts} addresses); at most ${limits.maxScanProbes} are allowed`,
    );
  }
  if (engine === 'connect') return { job: { engine, spans, ports, rate }, hosts, probes };
  const nmap = options.nmap();
  if (nmap === undefined)
    throw invalidField('engine', 'cannot be nmap: it is not installed, or discovery.nmap does not allow it');
  return { job: { engine, spans, ports, rate, nmap }, hosts, probes };
}
