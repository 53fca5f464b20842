import { limits } from '../../limits.ts';
import { scanEngines, scanStatuses } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { between, count, list, optional, part, shape, text, timestamp } from './fields.ts';

const target = text('An IP address or a CIDR block.', { minLength: 1, maxLength: 100 });
const engine = oneOf(
  scanEngines,
  'Scan engine. connect: the built-in TCP connect scanner; nmap: requires that nmap is installed and allowed.',
);
const rate = between(1, limits.maxScanRate, 'Maximum number of probes per second.');

export const Scan = shape('Scan', {
  targets: list(target, 'Targets of the scan, as requested.'),
  ports: text('Ports: `22,80,8000-8100` or `top100`.'),
  rate,
  engine,
  status: oneOf(scanStatuses, 'Status of the scan. Only one scan runs at a time.'),
  progress: part('Progress of the scan.', {
    hosts_total: count('Number of hosts to scan.'),
    hosts_done: count('Number of hosts scanned.'),
    probes_total: count('Number of probes to send.'),
    probes_done: count('Number of probes that were answered or timed out.'),
  }),
  result: optional(
    part('Results so far; for an interrupted scan, as of its last progress. Absent if the scan never started.', {
      hosts_up: count('Number of hosts that answered.'),
      services_found: count('Number of open ports.'),
      services_skipped: optional(count('Number of open ports that were not recorded because of the limit per host.')),
      assets_created: count('Number of assets created.'),
      assets_updated: count('Number of existing assets updated.'),
    }),
  ),
  error: optional(text('Why the scan failed.')),
  requested_by: text('Name of the principal that requested the scan.'),
  requested_at: timestamp('Time of the request.'),
  started_at: optional(timestamp('Time at which the scan started.')),
  finished_at: optional(timestamp('Time at which the scan ended.')),
});
export type Scan = Static<typeof Scan>;

/** The state before the first scan. */
export const NoScan = shape('NoScan', {
  status: oneOf(['idle'], 'Status when there has been no scan yet.'),
});

export const ScanInput = shape('ScanInput', {
  targets: list(target, 'Targets to scan; they must be within `discovery.allowed_networks`.', {
    minItems: 1,
    maxItems: limits.maxScanTargets,
  }),
  ports: optional(text('Ports: `22,80,8000-8100` or `top100`, the default.', { minLength: 1, maxLength: 4096 })),
  rate: optional(rate),
  engine: optional(engine),
});
export type ScanInput = Static<typeof ScanInput>;
