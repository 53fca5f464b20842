import { formats } from '../../../contract/formats.ts';
import type { ScanInput } from '../../../contract/resources/scan.ts';
import { ServiceError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { countHosts } from './spans.ts';

/** What a scan that is typed would do, before it is asked for; all pure. */
export interface ScanForm {
  readonly targets: string;
  readonly ports: string;
  readonly rate: string;
  readonly engine: string;
}

/** As the service has them where nothing is said. */
export const defaults: ScanForm = { targets: '', ports: 'top100', rate: '500', engine: 'connect' };
const top100 = 100;

export const targetsOf = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((target) => target !== '')),
];

export type ScanField = keyof ScanForm;
export type Faults = Readonly<Partial<Record<ScanField, string>>>;

export interface Plan {
  readonly hosts: number;
  readonly ports: number;
  /** False where `top100` may name some of the other ports, too. */
  readonly isExact: boolean;
  readonly probes: number;
  /** From what the rate allows to what it takes where nothing answers. */
  readonly leastMs: number;
  readonly mostMs: number;
}

/** How much a scan is, or what is wrong with it; undefined while nothing is named. */
export function planOf(form: ScanForm): { readonly plan?: Plan; readonly faults: Faults } {
  const targets = targetsOf(form.targets);
  const ports = portsOf(form.ports);
  const rate = Number(form.rate);
  const faults: { -readonly [K in ScanField]?: string } = {};
  const bad = targets.find((target) => !formats.network.test(target));
  if (bad !== undefined) faults.targets = `${bad} ${formats.network.reason}`;
  else if (targets.length > limits.maxScanTargets)
    faults.targets = `are ${targets.length}, at most ${limits.maxScanTargets}`;
  if ('fault' in ports) faults.ports = ports.fault;
  if (!Number.isInteger(rate) || rate < 1 || rate > limits.maxScanRate)
    faults.rate = `must be a whole number from 1 to ${limits.maxScanRate}`;
  const hosts = countHosts(targets);
  if (hosts > limits.maxScanHosts) faults.targets ??= `make it more than ${limits.maxScanHosts} addresses`;
  if ('fault' in ports || hosts === 0 || faults.rate !== undefined) return { faults };
  const probes = hosts * ports.count;
  if (probes > limits.maxScanProbes && faults.targets === undefined)
    faults.ports = `make it more than ${limits.maxScanProbes} probes`;
  const leastMs = (probes / rate) * 1000;
  // As many connections wait at once, each this long where nothing answers.
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
    if (match === null)
      return { fault: part === '' ? 'has nothing between two commas or at an end' : `cannot be ${part}` };
    const first = Number(match[1]);
    const last = Number(match[2] ?? first);
    if (first < 1 || last > 65_535) return { fault: `has ${part}: ports go from 1 to 65535` };
    if (first > last) return { fault: `has ${part}: the lower port comes first` };
    for (let port = first; port <= last; port++) named.add(port);
  }
  return { count: named.size + (hasTop ? top100 : 0), isExact: !hasTop || named.size === 0 };
}

/** As the service takes it. */
export const inputOf = ({ targets, ports, rate, engine }: ScanForm): ScanInput => ({
  targets: targetsOf(targets),
  ports: ports.replaceAll(/\s/g, ''),
  rate: Number(rate),
  engine: engine === 'nmap' ? 'nmap' : 'connect',
});

/** What the service refused, at the field that it names, and whether that is about the networks that may be scanned. */
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
      ? `${target ?? 'A target'} is outside of the networks that scans may reach`
      : target === undefined
        ? reason
        : `${target} ${reason}`,
    isOutside,
  };
}
