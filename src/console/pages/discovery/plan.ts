import type { ScanInput } from '../../../contract/resources/scan.ts';
import { ServiceError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import { parsePorts } from '../../../net/scan-ports.ts';
import { countHosts, parseTargets } from '../../../net/scan-targets.ts';

/** Previews a scan from its form. All functions here are pure. */

/** The form of a scan; all values are texts. */
export interface ScanForm {
  readonly targets: string;
  readonly ports: string;
  readonly rate: string;
  readonly engine: string;
}

/** The defaults of the API. */
export const defaults: ScanForm = { targets: '', ports: 'top100', rate: '500', engine: 'connect' };

export const targetsOf = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((target) => target !== '')),
];

export type ScanField = keyof ScanForm;
type Faults = Readonly<Partial<Record<ScanField, string>>>;

export interface Plan {
  readonly hosts: number;
  readonly ports: number;
  readonly probes: number;
  /** Estimated duration if only the rate limits the scan. */
  readonly leastMs: number;
  /** Estimated duration if no port answers. */
  readonly mostMs: number;
}

/** The console does not know the networks that the service allows. */
const allNetworks = ['0.0.0.0/0', '::/0'];

/** Estimates a scan and checks the form; `plan` is undefined without valid targets, ports and rate. */
export function planOf(form: ScanForm): { readonly plan?: Plan; readonly faults: Faults } {
  const input = inputOf(form);
  const { targets } = input;
  const rate = Number(form.rate);
  const faults: { -readonly [K in ScanField]?: string } = {};
  const checked = (field: ScanField, count: () => number): number => {
    try {
      return count();
    } catch (error) {
      faults[field] = refusalOf(error, input).text;
      return 0;
    }
  };
  const isTooMany = targets.length > limits.maxScanTargets;
  if (isTooMany) faults.targets = `at most ${limits.maxScanTargets} targets allowed (got ${targets.length})`;
  const hosts = isTooMany ? 0 : checked('targets', () => countHosts(parseTargets(targets, allNetworks)));
  const ports = checked('ports', () => parsePorts(form.ports).length);
  if (!Number.isInteger(rate) || rate < 1 || rate > limits.maxScanRate)
    faults.rate = `must be a whole number from 1 to ${limits.maxScanRate}`;
  if (hosts === 0 || ports === 0 || faults.rate !== undefined) return { faults };
  const probes = hosts * ports;
  if (probes > limits.maxScanProbes) faults.ports = `at most ${limits.maxScanProbes} probes allowed per scan`;
  const leastMs = (probes / rate) * 1000;
  // If no port answers, each of the concurrent connections waits for the whole timeout.
  const slowest = (limits.maxScanConnections / limits.scanConnectTimeoutMs) * 1000;
  const mostMs = (probes / Math.min(rate, slowest)) * 1000 + limits.scanConnectTimeoutMs;
  return { plan: { hosts, ports, probes, leastMs, mostMs }, faults };
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
