import type { Alert, Notice, Scheduled, Sensor, Truth } from './activity.ts';
import { alarms, attacks } from './attacks.ts';
import { eveLines } from './eve.ts';
import { office } from './hosts.ts';
import { backups, machines, people } from './office.ts';
import { Queue } from './queue.ts';
import { random } from './random.ts';
import { zeekLines } from './zeek.ts';

export type { Sensor, Truth } from './activity.ts';
export { connLines, floodLines, hostLines } from './conn-lines.ts';

export interface TrafficOptions {
  /** Seed; the same seed and options give the same lines. */
  readonly seed: number;
  /** Start of the simulated clock, epoch milliseconds. */
  readonly start: number;
  /** Lines per second of simulated time at the busiest hour, without attacks. Default 2. */
  readonly linesPerSecond?: number;
  /** Milliseconds to add to UTC for the office's local time. Default 0. */
  readonly shiftMs?: number;
  /** Length of one campaign of attacks, after which the next begins. Default 4 h. */
  readonly campaignMs?: number;
  /** Mean gap between alarms without an attack. Default 2 min. */
  readonly alarmGapMs?: number;
  readonly clients?: number;
  readonly guests?: number;
  readonly sites?: number;
}

export interface TrafficLine {
  /** Simulated time when the sensor writes the line, epoch milliseconds; never decreases. */
  readonly time: number;
  /** One JSON record, without a line feed. */
  readonly line: string;
  readonly format: 'zeek' | 'suricata';
  readonly sensor: Sensor;
  readonly truth: Truth;
}

const hourMs = 3_600_000;

/**
 * Yields traffic of a small office, including attacks. Endless; memory is bounded by the number of open connections.
 */
export function* traffic(options: TrafficOptions): Generator<TrafficLine, never> {
  const rng = random(options.seed);
  const { start, linesPerSecond = 2, shiftMs = 0, campaignMs = 4 * hourMs, alarmGapMs = 120_000 } = options;
  const { clients = 64, guests = 24, sites = 400 } = options;
  const place = office(rng.fork(), { clients, guests, sites });
  const sources = [
    people(rng.fork(), place, start, { linesPerSecond, shiftMs }),
    machines(rng.fork(), place, start, { linesPerSecond }),
    backups(rng.fork(), place, start, { shiftMs }),
    alarms(rng.fork(), place, start, alarmGapMs),
    ...attacks(rng.fork(), place, start, campaignMs),
  ];

  const upcoming = new Queue<{ time: number; session: Scheduled; source: Generator<Scheduled> }>();
  const open = new Queue<TrafficLine>();
  for (const source of sources) advance(source);

  function advance(source: Generator<Scheduled>): void {
    const next = source.next();
    if (next.done !== true) upcoming.push({ time: next.value.time, session: next.value, source });
  }

  for (;;) {
    // Future sessions write nothing before they begin.
    const { time, session, source } = upcoming.pop()!;
    while (open.first !== undefined && open.first.time <= time) yield open.pop()!;
    for (const line of write(session)) open.push(line);
    advance(source);
  }
}

const captures = {
  'zeek-core': { format: 'zeek' },
  'suricata-guest': { format: 'suricata', dnsVersion: 3, iface: 'ens3' },
  'suricata-dmz': { format: 'suricata', dnsVersion: 2, iface: 'ens5' },
} as const;

function write(session: Scheduled): TrafficLine[] {
  const { sensor, truth } = session;
  const capture = captures[sensor];
  return session.activities.flatMap((activity) => {
    // Only Zeek raises notices and only Suricata alerts; the sources ensure that.
    const written =
      capture.format === 'zeek'
        ? zeekLines(activity as Exclude<typeof activity, Alert>)
        : eveLines(activity as Exclude<typeof activity, Notice>, capture);
    return written.map(({ time, line }) => ({
      time: Math.max(time, session.time),
      line,
      format: capture.format,
      sensor,
      truth,
    }));
  });
}
