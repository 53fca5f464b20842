/** A recorded network gives the same alerts in bodies of any size, as Zeek writes it and as Suricata does. Takes minutes: REAL_SPLITS=1 runs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { login, startService } from '../../scripts/service.ts';
import { alertsAfter, inBodies } from './counted.ts';
import { hasSharedData, sharedLines } from './shared-data.ts';

/** On a busy machine. */
const timeout = 1_800_000;
const host = '64.225.56.201';
const tables = ['conn', 'open_conn', 'dns'];
/** Records of a body. The largest nearly fills one. */
const splits = [1_000, 15_000, 30_000];

const recordedLines = () =>
  tables.flatMap((table) => sharedLines(`zeek-internet-host/missing_host.${table}.ndjson.gz`));

interface Conn {
  readonly ts: number;
  readonly uid: string;
  readonly 'id.orig_h': string;
  readonly 'id.orig_p': number;
  readonly 'id.resp_h': string;
  readonly 'id.resp_p': number;
  readonly proto: string;
  readonly service?: string;
  readonly duration?: number;
  readonly conn_state?: string;
  readonly orig_pkts: number;
  readonly resp_pkts: number;
  readonly orig_ip_bytes: number;
  readonly resp_ip_bytes: number;
}

const [fin, syn, rst, psh, ack] = [0x01, 0x02, 0x04, 0x08, 0x10] as const;
const data = syn | ack | psh;
/** flow.state and the TCP flags of client and server, by Zeek's conn_state. */
const eveStates: Readonly<Record<string, readonly [state: string, client: number, server: number]>> = {
  SF: ['closed', data | fin, data | fin],
  S0: ['new', syn, 0],
  S1: ['established', data, data],
  S3: ['closed', data, data | fin],
  REJ: ['closed', syn, rst | ack],
  RSTO: ['closed', data | rst, data],
  RSTR: ['closed', data, data | rst],
  RSTRH: ['closed', 0, syn | ack | rst],
  SHR: ['closed', 0, syn | ack | fin],
  OTH: ['new', ack, ack],
};

const iso = (seconds: number) => {
  const micros = Math.round(seconds * 1e6);
  const millis = Math.floor(micros / 1000);
  const rest = String(micros % 1000).padStart(3, '0');
  return new Date(millis).toISOString().replace('Z', `${rest}+0000`);
};

/** The EVE flow of a connection as Zeek wrote it. */
function eveFlow(line: string): string {
  const conn = JSON.parse(line) as Conn;
  const { ts, uid, proto, service, duration = 0, conn_state = 'S1' } = conn;
  const [state, client, server] = eveStates[conn_state]!;
  const isTcp = proto === 'tcp';
  const isIcmp = proto === 'icmp';
  const flow_id = Number.parseInt(Buffer.from(uid).toString('hex').slice(-12), 16);
  const isBothWays = conn.orig_pkts > 0 && conn.resp_pkts > 0;
  return JSON.stringify({
    timestamp: iso(ts + duration),
    flow_id,
    event_type: 'flow',
    src_ip: conn['id.orig_h'],
    dest_ip: conn['id.resp_h'],
    ...(isIcmp
      ? { icmp_type: conn['id.orig_p'], icmp_code: conn['id.resp_p'] }
      : { src_port: conn['id.orig_p'], dest_port: conn['id.resp_p'] }),
    proto: proto.toUpperCase(),
    ...(service === undefined ? {} : { app_proto: service === 'ssl' ? 'tls' : service }),
    flow: {
      pkts_toserver: conn.orig_pkts,
      pkts_toclient: conn.resp_pkts,
      bytes_toserver: conn.orig_ip_bytes,
      bytes_toclient: conn.resp_ip_bytes,
      start: iso(ts),
      end: iso(ts + duration),
      state: isTcp ? state : isBothWays ? 'established' : 'new',
    },
    ...(isTcp && {
      tcp: {
        tcp_flags: (client | server).toString(16),
        tcp_flags_ts: client.toString(16),
        tcp_flags_tc: server.toString(16),
      },
    }),
  });
}

const formats: Readonly<Record<string, () => readonly string[]>> = {
  Zeek: recordedLines,
  EVE: () => recordedLines().map((line) => (line.includes('"conn_state"') ? eveFlow(line) : line)),
};

interface Shown {
  readonly rule_id: string;
  readonly src_ip?: string;
  readonly dst_ip?: string;
  readonly evidence?: object;
}

async function alertsIn(lines: readonly string[], perBody: number): Promise<Shown[]> {
  const service = await startService({ env: { CANDOR_NETWORK_HOME: `${host}/32` } });
  const admin = await login(service);
  let alerts = await alertsAfter(service, admin, inBodies(lines, perBody));
  // The last figures come with refreshes, once no event waits.
  for (let known = ''; known !== JSON.stringify(alerts); ) {
    known = JSON.stringify(alerts);
    await sleep(5000);
    alerts = await alertsAfter(service, admin, []);
  }
  expect(await service.stop()).toBe(0);
  const shown = alerts.map(({ attributes }) => {
    const { rule_id, src_ip, dst_ip, dst_port, severity, count, first_seen, last_seen, evidence } =
      attributes;
    return { rule_id, src_ip, dst_ip, dst_port, severity, count, first_seen, last_seen, evidence } as Shown;
  });
  return shown.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

describe.skipIf(!hasSharedData || process.env.REAL_SPLITS !== '1')(
  'a host on the Internet for 72 hours',
  () => {
    test.each(Object.keys(formats))(
      '%s: the same alerts however it is split',
      { timeout },
      async (format) => {
        const lines = formats[format]!();
        const found: Shown[][] = [];
        for (const perBody of splits) found.push(await alertsIn(lines, perBody));
        const [first, ...others] = found;
        for (const [n, other] of others.entries()) expect(other, `split ${splits[n + 1]}`).toEqual(first);
        const scan = first!.filter(
          ({ rule_id, src_ip }) => rule_id === 'behaviour.port-scan' && src_ip === '104.156.155.4',
        );
        expect(scan).toMatchObject([{ dst_ip: host, evidence: { ports_in_vain: 1465, ports_answered: 2 } }]);
        const beacons = first!.filter(
          ({ rule_id, src_ip }) => rule_id === 'behaviour.beaconing' && src_ip === '143.110.222.166',
        );
        expect(beacons).toMatchObject([{ count: 2 }]);
      },
    );
  },
);
