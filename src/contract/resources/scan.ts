import { oneOf, type Static } from './common.ts';
import { between, count, list, optional, part, shape, text, timestamp } from './fields.ts';

export const scanStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

export const Scan = shape('Scan', {
  targets: list(text('An address or a CIDR block.'), 'What is scanned.'),
  ports: text('Ports: `22,80,8000-8100` or `top100`.'),
  rate: optional(between(1, 1_000_000, 'Probes per second at most.')),
  status: oneOf(scanStatuses, { description: 'Where it stands. One runs at a time.' }),
  progress: part(
    {
      hosts_total: count('Hosts to visit.'),
      hosts_done: count('Hosts visited.'),
      probes_total: count('Probes to send.'),
      probes_done: count('Probes sent.'),
    },
    'How far it is.',
  ),
  result: optional(
    part(
      {
        hosts_up: count('Hosts that answered.'),
        services_found: count('Open ports.'),
        assets_created: count('Assets that were new.'),
        assets_updated: count('Assets that it learned of.'),
      },
      'What it found; of a finished scan.',
    ),
  ),
  error: optional(text('Why it failed.')),
  requested_by: text('Who asked for it.'),
  requested_at: timestamp('When.'),
  started_at: optional(timestamp('When it began.')),
  finished_at: optional(timestamp('When it ended.')),
});
export type Scan = Static<typeof Scan>;
