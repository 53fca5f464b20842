/** Recorded networks, to be sent to a service as by shippers. */
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { type Service, tokenFor } from '../../scripts/service.ts';
import { inFormat, type SensorFormat } from '../http/eve-lines.ts';
import { send } from './call.ts';
import { inBodies } from './counted.ts';
import { sharedLines } from './shared-data.ts';

export interface RecordedNetwork {
  readonly name: string;
  /** Names of files with Zeek's connections. */
  readonly conn: readonly string[];
  /** Names of files with Zeek's DNS lookups. */
  readonly dns: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly isHome: (address: string) => boolean;
  /** Addresses of the home hosts that answered, sorted. */
  readonly hosts: readonly string[];
}

export const office: RecordedNetwork = {
  name: 'zeek-lan',
  conn: ['zeek-lan/m57.conn.ndjson.gz'],
  dns: ['zeek-lan/m57.dns.ndjson.gz'],
  env: {},
  isHome: (address) => /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|f[cd]|fe[89ab])/i.test(address),
  hosts: ['192.168.1.1', '192.168.1.102', '192.168.1.103', '192.168.1.104', '192.168.1.105'],
};

const publicAddress = '64.225.56.201';

/** A host on the Internet for 72 hours, with 105,990 connections. */
export const internetHost: RecordedNetwork = {
  name: 'zeek-internet-host',
  conn: ['zeek-internet-host/missing_host.conn.ndjson.gz', 'zeek-internet-host/missing_host.open_conn.ndjson.gz'],
  dns: ['zeek-internet-host/missing_host.dns.ndjson.gz'],
  env: { CANDOR_NETWORK_HOME: `${publicAddress}/32` },
  isHome: (address) => address === publicAddress,
  hosts: [publicAddress],
};

export interface Conn {
  readonly ts: number;
  readonly uid: string;
  readonly 'id.orig_h': string;
  readonly 'id.resp_h': string;
  readonly 'id.resp_p': number;
  readonly proto: string;
  readonly conn_state: string;
  readonly history?: string;
  readonly orig_pkts: number;
  readonly resp_pkts: number;
}

/** A network that was sent to a service. */
export interface SentNetwork {
  readonly service: Service;
  readonly viewer: string;
  /** The lines with connections. */
  readonly lines: readonly string[];
  readonly records: readonly Conn[];
}

/** Sends all lines as gzip bodies, and expects each line to be accepted. */
export async function sendNetwork(
  service: Service,
  { conn, dns }: RecordedNetwork,
  { format = 'Zeek', perBody = 20_000 }: { format?: SensorFormat; perBody?: number } = {},
): Promise<SentNetwork> {
  const sensor = await tokenFor(service, 'sensor');
  const lines = conn.flatMap(sharedLines);
  for (const some of [lines, dns.flatMap(sharedLines)]) {
    for (const text of inBodies(some.map(inFormat[format]), perBody)) {
      const counts = await send(service, sensor, gzipSync(text), { headers: { 'content-encoding': 'gzip' } });
      expect(counts).toMatchObject({ rejected: 0 });
    }
  }
  return {
    service,
    viewer: await tokenFor(service, 'viewer'),
    lines,
    records: lines.map((line) => JSON.parse(line) as Conn),
  };
}
