/**
 * Every detector, over HTTP, with Zeek and Suricata lines: traffic that the detector reports, and quieter traffic that
 * it does not report.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { families } from '../../scripts/generated-names/families.ts';
import { random } from '../../scripts/traffic/random.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { type DetectorId, detectorIds } from '../../src/contract/vocabulary.ts';
import { alertsAfter, inBodies } from '../system/counted.ts';
import { inFormat } from './eve-lines.ts';
import { adminOf, openService } from './service.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const mega = 1_000_000;
const hex = '0123456789abcdef';
/** Far enough in the past for activity that lasts twelve days. */
const start = Math.floor(Date.now() / day - 14) * day;

interface Connection {
  readonly time: number;
  readonly src: string;
  readonly dst: string;
  /** Source port; for ICMP, the type. */
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
  /** Data of the answer; absent if the name does not exist. */
  readonly answer?: string;
}
type Seen = Connection | Question;

const resolver = '10.1.0.53';

const zeekStates = {
  answered: { conn_state: 'SF', history: 'ShADadFf', orig_pkts: 8, resp_pkts: 8 },
  refused: { conn_state: 'REJ', history: 'Sr', orig_pkts: 1, resp_pkts: 1 },
  silent: { conn_state: 'S0', history: 'S', orig_pkts: 1, resp_pkts: 0 },
};
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
  const { dst, port, proto = 'tcp', outcome = 'answered', durationMs = second, sent = 600, received = 600 } = seen;
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

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const late = start + 9 * day + 8 * hour;

/** Returns daily connections to three destinations, so that the host and its network know these destinations. */
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

const traffic: Readonly<Record<DetectorId, { readonly loud: readonly Seen[]; readonly quiet: readonly Seen[] }>> = {
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
      // A router reports each of these hosts as unreachable.
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

/** Lines per body. */
const splits = { loud: [5000, 500, 50], quiet: [500] };

describe.each(['Zeek', 'Suricata'] as const)('in %s lines', (format) => {
  describe.each(['loud', 'quiet'] as const)('%s traffic', (kind) => {
    let found: readonly (readonly Alert[])[];

    beforeAll(async () => {
      const seen = detectorIds.flatMap((id) => traffic[id][kind]).sort((a, b) => a.time - b.time);
      const lines = seen.map((one, n) => inFormat[format](JSON.stringify(zeek(one, n))));
      found = await Promise.all(splits[kind].map((perBody) => alertsIn(inBodies(lines, perBody))));
    });

    /**
     * Returns the addresses in the alerts of a detector: one list for each size in `splits`. Each detector has a
     * separate network.
     */
    const foundBy = (id: DetectorId): string[][] => {
      const network = `10.1.${detectorIds.indexOf(id) + 1}.`;
      return found.map((alerts) =>
        alerts
          .filter(({ rule_id }) => rule_id === `behaviour.${id}`)
          .flatMap(({ src_ip = '', dst_ip = '' }) => [src_ip, dst_ip])
          .filter((ip) => ip.startsWith(network)),
      );
    };
    test.each(detectorIds)('is reported by %s only if it exceeds the thresholds (loud)', (id) => {
      for (const [n, addresses] of foundBy(id).entries())
        expect(addresses.length > 0, `bodies of ${splits[kind][n]} lines`).toBe(kind === 'loud');
    });

    if (kind === 'loud')
      test('network-scan reports sweeps with pings, with unanswered connections and with refused connections', () => {
        for (const addresses of foundBy('network-scan'))
          expect(new Set(addresses)).toEqual(new Set(['10.1.2.5', '10.1.2.6', '10.1.2.7']));
      });
  });
});

async function alertsIn(bodies: readonly string[]): Promise<readonly Alert[]> {
  const service = await openService();
  try {
    const alerts = await alertsAfter(service, await adminOf(service), bodies);
    return alerts.map(({ attributes }) => attributes);
  } finally {
    await service.close();
  }
}
