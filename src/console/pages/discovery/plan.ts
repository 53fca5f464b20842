import { formats } from '../../../contract/formats.ts';
import type { ScanInput } from '../../../contract/resources/scan.ts';
import { ServiceError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { addressRanges } from '../../../net/ip.ts';

/** Previews a scan from its form. All functions here are pure. */

/** Addresses from `first` to `last`, both included; an IPv4 address is represented as its IPv4-mapped address. */
interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Counts the addresses that a scan would visit, as the service counts them: each address once, without the network and
 * broadcast addresses of IPv4 blocks (except in a /31, RFC 3021). Invalid targets count as 0.
 */
export function countHosts(targets: readonly string[]): number {
  const spans = targets.flatMap(spansOf).sort((a, b) => (a.first < b.first ? -1 : 1));
  let count = 0n;
  let end = -1n;
  for (const { first, last } of spans) {
    const from = first > end ? first : end + 1n;
    if (last < from) continue;
    count += last - from + 1n;
    end = last;
  }
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}

function spansOf(text: string): Span[] {
  if (!formats.network.test(text)) return [];
  const isDotted = !text.includes(':');
  return (addressRanges(text) ?? []).map((range) => {
    const [first, last] = [numberOf(range.first), numberOf(range.last)];
    return isDotted && last - first > 1n ? { first: first + 1n, last: last - 1n } : { first, last };
  });
}

const numberOf = (address: Uint8Array): bigint => address.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** The form of a scan; all values are texts. */
export interface ScanForm {
  readonly targets: string;
  readonly ports: string;
  readonly rate: string;
  readonly engine: string;
}

/** The defaults of the API. */
export const defaults: ScanForm = { targets: '', ports: 'top100', rate: '500', engine: 'connect' };
const top100 = 100;

export const targetsOf = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((target) => target !== '')),
];

export type ScanField = keyof ScanForm;
type Faults = Readonly<Partial<Record<ScanField, string>>>;

export interface Plan {
  readonly hosts: number;
  readonly ports: number;
  /** Whether the count is exact: false if `top100` may overlap with the other ports. */
  readonly isExact: boolean;
  readonly probes: number;
  /** Estimated duration if only the rate limits the scan. */
  readonly leastMs: number;
  /** Estimated duration if no port answers. */
  readonly mostMs: number;
}

/** Estimates a scan and checks the form; `plan` is undefined without valid targets, ports and rate. */
export function planOf(form: ScanForm): { readonly plan?: Plan; readonly faults: Faults } {
  const targets = targetsOf(form.targets);
  const ports = portsOf(form.ports);
  const rate = Number(form.rate);
  const faults: { -readonly [K in ScanField]?: string } = {};
  const bad = targets.find((target) => !formats.network.test(target));
  if (bad !== undefined) faults.targets = `${bad} ${formats.network.reason}`;
  else if (targets.length > limits.maxScanTargets)
    faults.targets = `at most ${limits.maxScanTargets} targets allowed (got ${targets.length})`;
  if ('fault' in ports) faults.ports = ports.fault;
  if (!Number.isInteger(rate) || rate < 1 || rate > limits.maxScanRate)
    faults.rate = `must be a whole number from 1 to ${limits.maxScanRate}`;
  const hosts = countHosts(targets);
  if (hosts > limits.maxScanHosts) faults.targets ??= `at most ${limits.maxScanHosts} addresses allowed per scan`;
  if ('fault' in ports || hosts === 0 || faults.rate !== undefined) return { faults };
  const probes = hosts * ports.count;
  if (probes > limits.maxScanProbes && faults.targets === undefined)
    faults.ports = `at most ${limits.maxScanProbes} probes allowed per scan`;
  const leastMs = (probes / rate) * 1000;
  // If no port answers, each of the concurrent connections waits for the whole timeout.
  const slowest = (limits.maxScanConnections / limits.scanConnectTimeoutMs) * 1000;
  const mostMs = (probes / Math.min(rate, slowest)) * 1000 + limits.scanConnectTimeoutMs;
  return { plan: { hosts, ports: ports.count, isExact: ports.isExact, probes, leastMs, mostMs }, faults };
}

type Ports = { readonly count: number; readonly isExact: boolean } | { readonly fault: string };

function portsOf(text: string): Ports {
  const named = new Set<number>();
  let hasTop = false;
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === 'top100') {
      hasTop = true;
      continue;
    }
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    if (match === null) return { fault: part === '' ? 'contains an empty item' : `${part} is not a port or a range` };
    const first = Number(match[1]);
    const last = Number(match[2] ?? first);
    if (first < 1 || last > 65_535) return { fault: `${part}: ports must be from 1 to 65535` };
    if (first > last) return { fault: `${part}: the lower port must come first` };
    for (let port = first; port <= last; port++) named.add(port);
  }
  return { count: named.size + (hasTop ? top100 : 0), isExact: !hasTop || named.size === 0 };
}

/** Returns the scan in the request format of the API. */
export const inputOf = ({ targets, ports, rate, engine }: ScanForm): ScanInput => ({
  targets: targetsOf(targets),
  ports: ports.replaceAll(/\s/g, ''),
  rate: Number(rate),
  engine: engine === 'nmap' ? 'nmap' : 'connect',
});

/** An error of the service, its form field, and whether a target is outside the allowed networks. */
export interface Refusal {
  readonly field: ScanField | undefined;
  readonly text: string;
  readonly isOutside: boolean;
}

export function refusalOf(error: unknown, { targets }: ScanInput): Refusal {
  const none = { field: undefined, isOutside: false };
  if (!(error instanceof ServiceError)) return { ...none, text: String(error) };
  const { field: path, reason } = error.details ?? {};
  if (typeof path !== 'string' || typeof reason !== 'string') return { ...none, text: error.message };
  const [name, index] = path.split('.');
  const field = (['targets', 'ports', 'rate', 'engine'] as const).find((one) => one === name);
  if (field === undefined) return { ...none, text: error.message };
  const target = index === undefined ? undefined : targets[Number(index)];
  const isOutside = field === 'targets' && reason.includes('discovery.allowed_networks');
  return {
    field,
    text: isOutside
      ? `${target ?? 'A target'} is outside the allowed networks`
      : target === undefined
        ? reason
        : `${target} ${reason}`,
    isOutside,
  };
}
