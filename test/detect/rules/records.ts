/** Time of the samples, epoch milliseconds. */
export const begin = Date.UTC(2026, 0, 2);

export type Line = Readonly<Record<string, unknown>>;
/** Records of one scenario, in any order. */
export type Sample = readonly Line[];
/**
 * Samples by the titles of the documents in one file: scenarios that the document must match, and near misses
 * that it must not match.
 */
export type Samples = Readonly<
  Record<string, { readonly matches: readonly Sample[]; readonly spares: readonly Sample[] }>
>;

export const client = '10.20.16.5';
export const server = '10.20.0.20';
/** An address of the benchmark network of RFC 2544, which is not a home network. */
export const outside = '198.18.7.7';

/** Returns a line of a Zeek log: by default, a connection from a home client to an external host. */
export const zeek = (log: string, fields: Line = {}, afterS = 0): Line => ({
  _path: log,
  ts: begin / 1000 + afterS,
  uid: `C${log}${afterS}`,
  'id.orig_h': client,
  'id.orig_p': 50_000,
  'id.resp_h': outside,
  'id.resp_p': 443,
  ...fields,
});

export const conn = (fields: Line = {}, afterS = 0): Line =>
  zeek(
    'conn',
    {
      proto: 'tcp',
      conn_state: 'SF',
      history: 'ShADadFf',
      duration: 2,
      orig_pkts: 9,
      resp_pkts: 9,
      ...fields,
    },
    afterS,
  );

/** Returns an EVE line with the same defaults as `zeek`. */
export const eve = (type: string, fields: Line = {}, afterS = 0): Line => ({
  timestamp: new Date(begin + afterS * 1000).toISOString().replace('Z', '000+0000'),
  flow_id: 1000 + afterS,
  event_type: type,
  src_ip: client,
  src_port: 50_000,
  dest_ip: outside,
  dest_port: 443,
  proto: 'TCP',
  ...fields,
});

export const flow = (
  fields: Line = {},
  counters: Line = { state: 'closed', pkts_toserver: 9, pkts_toclient: 9 },
  afterS = 0,
): Line =>
  eve(
    'flow',
    {
      ...fields,
      flow: { start: new Date(begin + afterS * 1000).toISOString().replace('Z', '000+0000'), ...counters },
    },
    afterS,
  );

/** Returns a connection in the native format. */
export const own = (fields: Line = {}, afterS = 0): Line => ({
  type: 'network_event',
  timestamp: new Date(begin + afterS * 1000).toISOString(),
  src_ip: client,
  src_port: 50_000,
  dst_ip: outside,
  dst_port: 443,
  transport: 'tcp',
  ...fields,
});

export const dns = (fields: Line, afterS = 0): Line =>
  zeek(
    'dns',
    {
      'id.resp_h': '10.20.0.10',
      'id.resp_p': 53,
      proto: 'udp',
      trans_id: 7,
      qtype_name: 'A',
      rcode_name: 'NOERROR',
      ...fields,
    },
    afterS,
  );

/** Returns one DNS query in each format. */
export const asked = (query: string, qtype = 'A'): Sample[] => [
  [dns({ query, qtype_name: qtype })],
  [
    eve('dns', {
      proto: 'UDP',
      dest_ip: '10.20.0.10',
      dest_port: 53,
      dns: { version: 3, type: 'request', id: 7, queries: [{ rrname: query, rrtype: qtype }] },
    }),
  ],
  [
    {
      type: 'dns_event',
      transport: 'udp',
      kind: 'query',
      timestamp: new Date(begin).toISOString(),
      src_ip: client,
      dst_ip: '10.20.0.10',
      query,
      qtype,
    },
  ],
];

/** Returns a connection in each format. */
export const connected = (
  to: { readonly src?: string; readonly dst?: string; readonly port: number; readonly service?: string },
  more: Line = {},
): Sample[] => {
  const { src = client, dst = outside, port, service } = to;
  return [
    [conn({ 'id.orig_h': src, 'id.resp_h': dst, 'id.resp_p': port, service, ...more })],
    [flow({ src_ip: src, dest_ip: dst, dest_port: port, app_proto: service })],
    [
      own({
        src_ip: src,
        dst_ip: dst,
        dst_port: port,
        app_protocol: service,
        state: 'closed',
        dst_packets: 9,
      }),
    ],
  ];
};

export const times = (count: number, make: (n: number) => Line): Sample =>
  Array.from({ length: count }, (_, n) => make(n));
