/** Every detector, over HTTP, in the lines of both sensors: traffic that it finds, and quieter traffic that it spares. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { families } from '../../scripts/generated-names/families.ts';
import { random } from '../../scripts/traffic/random.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { type DetectorId, detectorIds } from '../../src/contract/vocabulary.ts';
import { adminOf, openService, type Service } from './service.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const mega = 1_000_000;
const hex = '0123456789abcdef';
/** Long enough ago that what lasts twelve days has happened. */
const start = Math.floor(Date.now() / day - 14) * day;

interface Connection {
  readonly time: number;
  readonly src: string;
  readonly dst: string;
  /** Of ICMP the type. */
  readonly srcPort?: number;
  readonly port: number;
  readonly proto?: 'tcp' | 'udp' | 'icmp';
  readonly outcome?: 'answered' | 'refused' | 'silent';
  readonly durationMs?: number;
  readonly sent?: number;
  readonly received?: number;
}
interface Question {
  readonly time: number;
  readonly src: string;
  readonly query: string;
  readonly qtype?: string;
  /** Data of an answer; without one, the name does not exist. */
  readonly answer?: string;
}
type Seen = Connection | Question;

const iso = (ms: number) => new Date(ms).toISOString().replace('Z', '000+0000');
const resolver = '10.1.0.53';

const zeekStates = {
  answered: { conn_state: 'SF', history: 'ShADadFf', orig_pkts: 8, resp_pkts: 8 },
  refused: { conn_state: 'REJ', history: 'Sr', orig_pkts: 1, resp_pkts: 1 },
  silent: { conn_state: 'S0', history: 'S', orig_pkts: 1, resp_pkts: 0 },
};
const eveStates = {
  answered: {
    state: 'closed',
    tcp: { tcp_flags: '1b', tcp_flags_ts: '1b', tcp_flags_tc: '1b' },
    packets: [8, 8],
  },
  refused: {
    state: 'closed',
    tcp: { tcp_flags: '16', tcp_flags_ts: '02', tcp_flags_tc: '14' },
    packets: [3, 3],
  },
  silent: { state: 'new', tcp: { tcp_flags: '02', tcp_flags_ts: '02', tcp_flags_tc: '00' }, packets: [1, 0] },
} as const;

function zeek(seen: Seen, n: number): object {
  const shared = { ts: seen.time / 1000, uid: `C${n}`, 'id.orig_h': seen.src };
  if ('query' in seen) {
    const { query, qtype = 'A', answer } = seen;
    const ends = { 'id.orig_p': 40_000, 'id.resp_h': resolver, 'id.resp_p': 53, proto: 'udp' };
    const reply =
      answer === undefined
        ? { rcode: 3, rcode_name: 'NXDOMAIN' }
        : { rcode: 0, rcode_name: 'NOERROR', answers: [answer], TTLs: [60] };
    return { _path: 'dns', ...shared, ...ends, trans_id: 1, query, qtype_name: qtype, ...reply };
  }
  const {
    dst,
    port,
    proto = 'tcp',
    outcome = 'answered',
    durationMs = second,
    sent = 600,
    received = 600,
  } = seen;
  const isHeard = outcome === 'answered';
  const state = zeekStates[outcome];
  return {
    _path: 'conn',
    ...shared,
    'id.orig_p': seen.srcPort ?? 40_000 + (n % 20_000),
    'id.resp_h': dst,
    'id.resp_p': port,
    proto,
    duration: durationMs / 1000,
    ...state,
    ...(proto === 'icmp' ? { conn_state: 'OTH', history: undefined } : {}),
    orig_bytes: isHeard ? sent : 0,
    resp_bytes: isHeard ? received : 0,
    orig_ip_bytes: isHeard ? sent : 60,
    resp_ip_bytes: isHeard ? received : 60 * state.resp_pkts,
  };
}

function eve(seen: Seen, n: number): object {
  const shared = { timestamp: iso(seen.time), flow_id: n + 1, src_ip: seen.src };
  if ('query' in seen) {
    const { query, qtype = 'A', answer } = seen;
    const answers =
      answer === undefined ? {} : { answers: [{ rrname: query, rrtype: qtype, ttl: 60, rdata: answer }] };
    const dns = { version: 2, type: 'answer', id: 1, rrname: query, rrtype: qtype, ...answers };
    const ends = { src_port: 40_000, dest_ip: resolver, dest_port: 53, proto: 'UDP' };
    const rcode = answer === undefined ? 'NXDOMAIN' : 'NOERROR';
    return { event_type: 'dns', ...shared, ...ends, dns: { ...dns, rcode } };
  }
  const {
    dst,
    port,
    proto = 'tcp',
    outcome = 'answered',
    durationMs = second,
    sent = 600,
    received = 600,
  } = seen;
  const { state, tcp, packets } = eveStates[outcome];
  const ports =
    proto === 'icmp'
      ? { icmp_type: seen.srcPort, icmp_code: port }
      : { src_port: seen.srcPort ?? 40_000 + (n % 20_000), dest_port: port };
  return {
    event_type: 'flow',
    ...shared,
    timestamp: iso(seen.time + durationMs),
    dest_ip: dst,
    ...ports,
    proto: proto.toUpperCase(),
    ...(proto === 'tcp' ? { tcp } : {}),
    flow: {
      pkts_toserver: packets[0],
      pkts_toclient: packets[1],
      bytes_toserver: outcome === 'answered' ? sent : 60 * packets[0],
      bytes_toclient: outcome === 'answered' ? received : 60 * packets[1],
      start: iso(seen.time),
      end: iso(seen.time + durationMs),
      state: proto === 'tcp' ? state : outcome === 'answered' ? 'established' : 'new',
      reason: 'timeout',
    },
  };
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const late = start + 9 * day + 8 * hour;

/** Three places each day, which a host and its network know. */
const usual = (src: string, days: number): Connection[] =>
  times(3 * days, (n) => ({
    time: start + Math.floor(n / 3) * day + (n % 3) * hour,
    src,
    dst: `198.51.100.${n % 3}`,
    port: 443,
    sent: 14 * mega,
    received: 20 * mega,
    durationMs: minute,
  }));
const sweep = (src: string, count: number, what: Partial<Connection>): Connection[] =>
  times(count, (n) => ({
    time: late + n * second,
    src,
    dst: `10.1.20.${n + 1}`,
    port: 445,
    outcome: 'silent',
    ...what,
  }));
const pings = { proto: 'icmp', srcPort: 8, port: 0 } as const;
const server = '10.1.12.1';
const served = (port: number, days: number, src = '10.1.12.5'): Connection => ({
  time: start + days * day,
  src,
  dst: server,
  port,
});
const qakbot = families.find(({ id }) => id === 'qakbot')!;
const rng = random(7);
const names = times(60, () => `${qakbot.make(rng)}.net`);

const traffic: Readonly<
  Record<DetectorId, { readonly loud: readonly Seen[]; readonly quiet: readonly Seen[] }>
> = {
  'port-scan': {
    loud: times(40, (n) => ({
      time: late + n * second,
      src: '10.1.1.5',
      dst: '10.1.1.9',
      port: n + 1,
      outcome: 'refused',
    })),
    quiet: [
      ...times(10, (n) => ({
        time: late + n * second,
        src: '10.1.1.5',
        dst: '10.1.1.9',
        port: n + 1,
        outcome: 'refused' as const,
      })),
      ...times(40, (n) => ({ time: late + n * second, src: '10.1.1.6', dst: '10.1.1.9', port: n + 1 })),
    ],
  },
  'network-scan': {
    loud: [
      ...sweep('10.1.2.5', 40, pings),
      ...sweep('10.1.2.6', 40, {}),
      ...sweep('10.1.2.7', 40, { outcome: 'refused' }),
    ],
    quiet: [
      ...sweep('10.1.2.5', 10, pings),
      ...sweep('10.1.2.6', 40, { ...pings, outcome: 'answered' }),
      // A router says of each that it cannot be reached.
      ...sweep('10.1.2.7', 40, { proto: 'icmp', srcPort: 3, port: 1 }),
      ...sweep('10.1.2.8', 40, { outcome: 'answered' }),
    ],
  },
  'internet-background': {
    loud: times(60, (n) => ({
      time: late + n * minute,
      src: `203.0.113.${n + 1}`,
      dst: '10.1.3.1',
      port: 23,
      outcome: 'silent',
    })),
    quiet: times(20, (n) => ({
      time: late + n * minute,
      src: `203.0.113.${n + 1}`,
      dst: '10.1.3.1',
      port: 23,
      outcome: 'silent',
    })),
  },
  'brute-force': {
    loud: times(30, (n) => ({
      time: late + n * 20 * second,
      src: '203.0.113.100',
      dst: '10.1.4.9',
      port: 22,
      sent: 2000 + n,
      received: 2400,
      durationMs: 3000,
    })),
    quiet: [
      ...times(20, (n) => ({
        time: late + n * 20 * second,
        src: '203.0.113.100',
        dst: '10.1.4.9',
        port: 22,
        sent: 2000 + n,
        received: 2400,
        durationMs: 3000,
      })),
      ...times(60, (n) => ({
        time: late + n * second,
        src: '203.0.113.101',
        dst: '10.1.4.9',
        port: 22,
        outcome: 'refused' as const,
      })),
    ],
  },
  beaconing: {
    loud: times(288, (n) => ({
      time: late + n * 5 * minute,
      src: '10.1.5.5',
      dst: '203.0.113.150',
      port: 443,
      sent: 300,
      received: 300,
    })),
    quiet: times(288, () => ({
      time: late + Math.floor(rng.next() * day),
      src: '10.1.5.5',
      dst: '203.0.113.150',
      port: 443,
      sent: rng.int(300, 90_000),
      received: 300,
    })),
  },
  'long-connection': {
    loud: [{ time: late, src: '10.1.6.5', dst: '203.0.113.160', port: 4460, durationMs: 20 * hour }],
    quiet: [
      { time: late, src: '10.1.6.5', dst: '203.0.113.160', port: 4460, durationMs: 30 * minute },
      { time: late, src: '10.1.6.6', dst: '203.0.113.160', port: 443, durationMs: 5 * hour },
    ],
  },
  exfiltration: {
    loud: [
      ...usual('10.1.7.5', 9),
      ...times(20, (n) => ({
        time: late + n * minute,
        src: '10.1.7.5',
        dst: '203.0.113.170',
        port: 443,
        sent: 100 * mega,
        received: mega,
        durationMs: 30 * second,
      })),
    ],
    quiet: usual('10.1.7.5', 10),
  },
  'dns-tunnel': {
    loud: times(200, (n) => ({
      time: late + n * second,
      src: '10.1.8.5',
      query: `${rng.text(18, hex)}.t.bad.example`,
      qtype: 'TXT',
      answer: rng.text(18, hex),
    })),
    quiet: times(200, (n) => ({
      time: late + n * second,
      src: '10.1.8.5',
      query: `www${n % 5}.good.example`,
      answer: '192.0.2.1',
    })),
  },
  'generated-names': {
    loud: names.map((query, n) => ({ time: late + n * second, src: '10.1.9.5', query })),
    quiet: names.slice(0, 3).map((query, n) => ({ time: late + n * second, src: '10.1.9.5', query })),
  },
  'nxdomain-storm': {
    loud: times(400, (n) => ({ time: late + n * second, src: '10.1.10.5', query: `word${n}thing.example` })),
    quiet: times(60, (n) => ({ time: late + n * second, src: '10.1.10.5', query: `word${n}thing.example` })),
  },
  'rare-destination': {
    loud: [
      ...usual('10.1.11.5', 9),
      { time: late, src: '10.1.11.5', dst: '203.0.113.180', port: 443, sent: 2 * mega, durationMs: minute },
    ],
    quiet: usual('10.1.11.5', 10),
  },
  'new-service': {
    loud: [...[0, 1, 3, 6].map((days) => served(443, days)), served(3389, 9)],
    quiet: [...[0, 1, 3, 6, 9].map((days) => served(443, days)), { ...served(3389, 9), outcome: 'refused' }],
  },
  'lateral-movement': {
    loud: [
      { time: start, src: '10.1.13.5', dst: '10.1.13.100', port: 443 },
      ...times(4, (n) => ({
        time: late + n * 5 * minute,
        src: '10.1.13.5',
        dst: `10.1.13.${n + 1}`,
        port: 22,
      })),
    ],
    quiet: [
      ...times(4, (n) => ({
        time: start + day + n * 5 * minute,
        src: '10.1.13.5',
        dst: `10.1.13.${n + 1}`,
        port: 22,
      })),
      ...times(4, (n) => ({
        time: late + n * 5 * minute,
        src: '10.1.13.5',
        dst: `10.1.13.${n + 1}`,
        port: 22,
      })),
    ],
  },
};

const sensors = { Zeek: zeek, Suricata: eve } as const;

describe.each(Object.keys(sensors) as (keyof typeof sensors)[])('in lines of %s', (sensor) => {
  describe.each(['loud', 'quiet'] as const)('%s traffic', (kind) => {
    let service: Service;
    let found: readonly Alert[];

    beforeAll(async () => {
      service = await openService();
      const token = await adminOf(service);
      const seen = detectorIds.flatMap((id) => traffic[id][kind]).sort((a, b) => a.time - b.time);
      const { body } = await service.call('ingest', 'POST /api/v1/ingest', {
        token,
        text: seen.map((one, n) => JSON.stringify(sensors[sensor](one, n))).join('\n'),
        headers: { 'content-type': 'application/x-ndjson' },
      });
      expect(body).toMatchObject({ data: { accepted: seen.length, rejected: 0 } });
      const alerts = async () => {
        const { body: page } = await service.call(
          'listAlerts',
          'GET /api/v1/alerts?per_page=500&rule_source=behaviour',
          { token },
        );
        return (page as { data: { attributes: Alert }[] }).data.map(({ attributes }) => attributes);
      };
      await vi
        .waitFor(async () => {
          const { body: status } = await service.call('getStatus', 'GET /api/v1/status', { token });
          expect(JSON.stringify(status)).toContain('"uncounted_events":0');
        })
        .catch(() => undefined);
      found = await alerts();
    }, 60_000);
    afterAll(() => service.close());

    /** Each detector has a network of its own. */
    const foundBy = (id: DetectorId): string[] => {
      const network = `10.1.${detectorIds.indexOf(id) + 1}.`;
      return found
        .filter(({ rule_id }) => rule_id === `behaviour.${id}`)
        .flatMap(({ src_ip = '', dst_ip = '' }) => [src_ip, dst_ip])
        .filter((ip) => ip.startsWith(network));
    };
    test.each(detectorIds)('%s', (id) => {
      expect(foundBy(id).length > 0).toBe(kind === 'loud');
    });

    if (kind === 'loud')
      test('network-scan finds sweeps by pings, by silent and by refused connections', () => {
        expect(new Set(foundBy('network-scan'))).toEqual(new Set(['10.1.2.5', '10.1.2.6', '10.1.2.7']));
      });
  });
});
