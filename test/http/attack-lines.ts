/**
 * Synthetic Zeek and Suricata lines for each detected behaviour: five hours of attacks, after nine days of history.
 */
import { families } from '../../scripts/generated-names/families.ts';
import { random } from '../../scripts/traffic/random.ts';
import { inFormat, type SensorFormat } from './eve-lines.ts';

export interface AttackLine {
  /** Time of the line in epoch milliseconds. */
  readonly time: number;
  readonly line: string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface Conn {
  readonly src: string;
  readonly dst: string;
  readonly port: number;
  readonly state?: 'S0' | 'REJ' | 'SF' | 'S1';
  readonly proto?: 'tcp' | 'udp';
  readonly out?: number;
  readonly back?: number;
  readonly seconds?: number;
  readonly uid?: string;
}

let made = 0;

/** Returns the Zeek line of a connection. */
export function conn(time: number, what: Conn): AttackLine {
  const { src, dst, port, state = 'SF', proto = 'tcp', out = 900, back = 1200, seconds = 1 } = what;
  const isVain = state === 'S0' || state === 'REJ';
  const record = {
    _path: 'conn',
    ts: time / 1000,
    uid: what.uid ?? `C${++made}`,
    'id.orig_h': src,
    'id.orig_p': 40_000 + (made % 20_000),
    'id.resp_h': dst,
    'id.resp_p': port,
    proto,
    conn_state: state,
    ...(isVain ? {} : { duration: seconds }),
    orig_bytes: isVain ? 0 : out,
    resp_bytes: isVain ? 0 : back,
    orig_pkts: isVain ? 1 : 10,
    resp_pkts: isVain ? (state === 'REJ' ? 1 : 0) : 10,
    orig_ip_bytes: isVain ? 40 : out + 400,
    resp_ip_bytes: isVain ? (state === 'REJ' ? 40 : 0) : back + 400,
  };
  return { time, line: JSON.stringify(record) };
}

function dns(time: number, src: string, query: string, { rcode = 3, qtype = 1 } = {}): AttackLine {
  const record = {
    _path: 'dns',
    ts: time / 1000,
    uid: `D${++made}`,
    'id.orig_h': src,
    'id.orig_p': 40_000,
    'id.resp_h': '10.1.0.53',
    'id.resp_p': 53,
    proto: 'udp',
    trans_id: made % 65_536,
    query,
    qclass: 1,
    qtype,
    rcode,
    ...(rcode === 0 ? { answers: ['TXT 12 aGVsbG8gd29y'], TTLs: [60] } : {}),
  };
  return { time, line: JSON.stringify(record) };
}

/** Returns `count` lines at even intervals. */
function many(from: number, lastsMs: number, count: number, make: (time: number, n: number) => AttackLine) {
  return Array.from({ length: count }, (_, n) => make(Math.round(from + (lastsMs * n) / count), n));
}

/** Returns the lines of a sensor, sorted by time. @param start - a full hour, epoch milliseconds */
export function attackLines(start: number, format: SensorFormat): AttackLine[] {
  made = 0;
  const rng = random(11);
  const { make: generated } = families.find(({ id }) => id === 'qakbot')!;
  const days = Array.from({ length: 9 }, (_, n) => start - (9 - n) * dayMs);
  const lines = [
    ...many(start + 5 * minuteMs, 3 * hourMs, 1465, (time, n) =>
      conn(time, { src: '10.1.0.5', dst: '10.1.0.9', port: 1 + n, state: 'S0' }),
    ),
    ...many(start + hourMs, 2 * hourMs, 400, (time, n) =>
      conn(time, { src: '198.51.100.9', dst: '10.1.2.20', port: 1000 + n, state: 'S0' }),
    ),
    ...many(start + 30 * minuteMs, 2 * hourMs, 150, (time, n) =>
      conn(time, { src: '10.1.0.6', dst: `10.1.1.${1 + n}`, port: 445, state: 'S0' }),
    ),
    ...many(start, 4 * hourMs, 52, (time) =>
      conn(time, { src: '10.1.0.7', dst: '203.0.113.50', port: 443, out: 1e8, back: 10_000, seconds: 60 }),
    ),
    ...many(start + 10 * minuteMs, 100 * minuteMs, 240, (time, n) =>
      conn(time, { src: `198.51.100.${70 + (n % 3)}`, dst: '10.1.0.30', port: 22, out: 1800, back: 2200 }),
    ),
    ...many(start + 20 * minuteMs, 40 * minuteMs, 90, (time) =>
      conn(time, { src: '10.1.0.8', dst: '10.1.0.30', port: 22, out: 1800, back: 2200 }),
    ),
    conn(start + 90 * minuteMs, { src: '10.1.0.8', dst: '10.1.0.30', port: 22, out: 90_000, back: 90_000 }),
    ...many(start, 5 * hourMs, 300, (time) =>
      conn(time, { src: '10.1.0.10', dst: '203.0.113.80', port: 8443, out: 600, back: 300 }),
    ),
    ...[1.5, 2.5, 3.5, 4.5].map((hours) => ({
      ...conn(start, {
        src: '10.1.0.17',
        dst: '203.0.113.81',
        port: 4444,
        seconds: hours * 3600,
        uid: 'CLONG',
        state: 'S1',
      }),
      time: start + hours * hourMs,
    })),
    ...many(start + 15 * minuteMs, 3 * hourMs, 700, (time, n) =>
      dns(time, '10.1.0.11', `${(n * 2_654_435_761).toString(36)}x${(n * 40_503).toString(36)}kq7.tunnel.example`, {
        rcode: 0,
        qtype: 16,
      }),
    ),
    ...many(start + 15 * minuteMs, 2 * hourMs, 60, (time) => dns(time, '10.1.0.12', `${generated(rng)}.net`)),
    ...many(start + 35 * minuteMs, 110 * minuteMs, 2000, (time, n) =>
      dns(time, `10.1.0.${13 + (n % 3)}`, `w${n}rand.victim.example`),
    ),
    ...many(start + 40 * minuteMs, 50 * minuteMs, 400, (time, n) =>
      dns(time, '10.1.0.16', `host${n}.zone${n % 40}.example`),
    ),
    ...many(start + 5 * minuteMs, 4 * hourMs, 160, (time, n) =>
      conn(time, { src: `192.0.2.${1 + (n % 80)}`, dst: '10.1.0.40', port: 23, state: 'S0' }),
    ),
    ...many(start + 70 * minuteMs, 80_000, 12, (time, n) =>
      conn(time, { src: '10.1.0.21', dst: '10.1.0.9', port: 100 + n, state: 'REJ' }),
    ),
    ...days.flatMap((time) => [
      conn(time, { src: '10.1.0.51', dst: '10.1.0.52', port: 22 }),
      conn(time, { src: '10.1.0.50', dst: '10.1.0.52', port: 443 }),
      conn(time, { src: '10.1.0.50', dst: '203.0.113.10', port: 443 }),
    ]),
    ...many(start + hourMs, 2 * hourMs, 6, (time, n) =>
      conn(time, { src: '10.1.0.50', dst: `10.1.0.${60 + n}`, port: 22 }),
    ),
    conn(start + 2 * hourMs, { src: '10.1.0.50', dst: '10.1.0.52', port: 4444 }),
    ...many(start + hourMs, hourMs, 5, (time) =>
      conn(time, { src: '10.1.0.50', dst: '233.252.0.9', port: 443, out: 1e6 }),
    ),
  ];
  return lines.sort((a, b) => a.time - b.time).map(({ time, line }) => ({ time, line: inFormat[format](line) }));
}

/** Returns the lines sorted by the time of arrival that `at` returns. */
export function arriving(lines: readonly AttackLine[], at: (line: AttackLine) => number): AttackLine[] {
  return lines
    .map((line) => ({ line, at: at(line) }))
    .sort((a, b) => a.at - b.at)
    .map(({ line }) => line);
}

/** Returns the lines in their order of arrival if each is delayed by up to an hour. */
export function late(lines: readonly AttackLine[]): AttackLine[] {
  const rng = random(7);
  return arriving(lines, ({ time }) => time + rng.next() * hourMs);
}
