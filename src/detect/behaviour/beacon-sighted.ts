import type { Severity } from '../../contract/vocabulary.ts';
import type { Pair } from './beacon-pair.ts';
import type { BeaconScore } from './beacon-score.ts';
import type { Sighted } from './detector.ts';

const hourS = 3600;

/** What was concluded of a pair. */
interface Seen {
  readonly severity: Severity;
  /** What the score, with its modifier, must reach to be told at all. */
  readonly threshold: number;
  readonly score: BeaconScore;
  readonly modifier: number;
  readonly users: number;
  readonly hosts: number;
  readonly share: number | undefined;
}

export function beaconSighted(pair: Pair, seen: Seen): Sighted {
  const { severity, score, threshold, modifier, users, hosts, share } = seen;
  const { src, dst, port, count } = pair;
  const hoursLong = Math.round((pair.to - Math.max(pair.first, pair.to - 24 * hourS)) / hourS);
  return {
    ...common(pair),
    title: `Beacon from ${src} to ${dst}:${port}`,
    description:
      `${src} connected to ${dst}:${port} ${count} times in ${hoursLong} hours, about every ` +
      `${spoken(score.interval)}, sending about ${Math.round(score.size)} bytes each time. ` +
      'Malware asks for its orders like this, as do update checks, monitors and telemetry. ' +
      `Find out which program on ${src} does it, and who ${dst} is.`,
    severity,
    confidence: Math.min(1, Math.max(0, Math.round((score.score + modifier) * 100) / 100)),
    evidence: {
      score: score.score,
      timestamp_score: score.timestamps,
      data_size_score: score.sizes,
      histogram_score: score.histogram,
      duration_score: score.duration,
      connections: count,
      connections_scored: pair.times.length,
      interval_seconds: score.interval,
      interval_deviation_seconds: score.intervalDeviation,
      median_bytes_out: score.size,
      bytes_out: pair.srcBytes,
      bytes_in: pair.dstBytes,
      histogram: score.bars,
      window_from: Math.max(pair.first, pair.to - 24 * hourS) * 1000,
      window_to: pair.to * 1000,
      first_seen: pair.first * 1000,
      direction: pair.direction,
      score_modifier: modifier,
      threshold,
      ...(share === undefined
        ? {}
        : {
            prevalence: Math.round(share * 1000) / 1000,
            hosts_using_destination: users,
            hosts_seen: hosts,
          }),
    },
  };
}

export function strobeSighted(pair: Pair, threshold: number): Sighted {
  const { src, dst, port, count } = pair;
  return {
    ...common(pair),
    title: `Strobe from ${src} to ${dst}:${port}`,
    description:
      `${src} connected to ${dst}:${port} ${count} times within a day, more than once a second. ` +
      'A program that fails and tries again does this, and so do some kinds of malware. ' +
      `Find out which program on ${src} does it.`,
    severity: 'low',
    confidence: 0.5,
    evidence: {
      connections: count,
      threshold,
      bytes_out: pair.srcBytes,
      bytes_in: pair.dstBytes,
      direction: pair.direction,
    },
  };
}

function common({
  src,
  dst,
  port,
  transport,
  first,
  to,
  events,
}: Pair): Pick<Sighted, 'timestamp' | 'began' | 'ends' | 'about' | 'events'> {
  return {
    timestamp: to * 1000,
    began: first * 1000,
    ends: { src_ip: src, dst_ip: dst, dst_port: port, ...(transport === '' ? {} : { transport }) },
    about: `${transport} ${port}`,
    events,
  };
}

function spoken(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} seconds`;
  if (seconds < 2 * hourS) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / hourS)} hours`;
}
