import { limits } from '../../limits.ts';
import { scanEngines, scanStatuses } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { between, count, list, optional, part, shape, text, timestamp } from './fields.ts';

const target = text('An address or a CIDR block.', { minLength: 1, maxLength: 100 });
const engine = oneOf(scanEngines, {
  description: 'connect: our own, by TCP connections; nmap: that program, where it is installed and allowed.',
});
const rate = between(1, limits.maxScanRate, 'Probes per second at most.');

export const Scan = shape('Scan', {
  targets: list(target, 'What is scanned, as it was asked for.'),
  ports: text('Ports: `22,80,8000-8100` or `top100`.'),
  rate,
  engine,
  status: oneOf(scanStatuses, { description: 'Where it stands. One runs at a time.' }),
  progress: part(
    {
      hosts_total: count('Hosts to visit.'),
      hosts_done: count('Hosts visited.'),
      probes_total: count('Probes to send.'),
      probes_done: count('Probes sent, and answered or given up.'),
    },
    'How far it is.',
  ),
  result: optional(
    part(
      {
        hosts_up: count('Hosts that answered.'),
        services_found: count('Open ports.'),
        services_skipped: optional(
          count('Open ports that were counted and not recorded: beyond what one host can have.'),
        ),
        assets_created: count('Assets that were new.'),
        assets_updated: count('Assets that it learned of.'),
      },
      'What it found so far, as of its last progress where it was cut short; absent where it never began.',
    ),
  ),
  error: optional(text('Why it failed.')),
  requested_by: text('Who asked for it.'),
  requested_at: timestamp('When.'),
  started_at: optional(timestamp('When it began.')),
  finished_at: optional(timestamp('When it ended.')),
});
export type Scan = Static<typeof Scan>;

/** The state before the first scan. */
export const NoScan = shape('NoScan', { status: oneOf(['idle'], { description: 'There was no scan yet.' }) });

export const ScanInput = shape('ScanInput', {
  targets: list(target, 'What to scan; it must lie in `discovery.allowed_networks`.', {
    minItems: 1,
    maxItems: limits.maxScanTargets,
  }),
  ports: optional(
    text('Ports: `22,80,8000-8100` or `top100`, the default.', { minLength: 1, maxLength: 4096 }),
  ),
  rate: optional(rate),
  engine: optional(engine),
});
export type ScanInput = Static<typeof ScanInput>;
