import { type Activity, type Alert, type Flow, type Lookup, type Notice, queryTypes } from './activity.ts';

/** A line as a sensor writes it, with the time of writing (epoch milliseconds). */
export interface Written {
  readonly time: number;
  readonly line: string;
}

const protocolNumbers = { icmp: 1, tcp: 6, udp: 17 } as const;
const responseCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 } as const;

/**
 * Formats activity as Zeek's JSON logs (conn, dns, notice). A connection is written when it ends, a lookup when it is
 * answered.
 */
export function zeekLines(activity: Exclude<Activity, Alert>): Written[] {
  switch (activity.kind) {
    case 'flow':
      return [{ time: activity.start + activity.durationMs, line: conn(activity) }];
    case 'lookup':
      return [
        { time: activity.flow.start + activity.rttMs, line: dns(activity) },
        { time: activity.flow.start + activity.rttMs, line: conn(activity.flow) },
      ];
    case 'notice':
      return [{ time: activity.time, line: notice(activity) }];
  }
}

function conn(flow: Flow): string {
  const header = (flow.transport === 'tcp' ? 40 : 28) + (flow.src.includes(':') ? 20 : 0);
  return JSON.stringify({
    _path: 'conn',
    ts: seconds(flow.start),
    uid: flow.uid,
    'id.orig_h': flow.src,
    'id.orig_p': flow.srcPort,
    'id.resp_h': flow.dst,
    'id.resp_p': flow.dstPort,
    proto: flow.transport,
    service: flow.service,
    ...(flow.durationMs === 0
      ? {}
      : { duration: seconds(flow.durationMs), orig_bytes: flow.srcBytes, resp_bytes: flow.dstBytes }),
    conn_state: flow.state,
    local_orig: isLocal(flow.src),
    local_resp: isLocal(flow.dst),
    missed_bytes: 0,
    history: flow.history === '' ? undefined : flow.history,
    orig_pkts: flow.srcPackets,
    orig_ip_bytes: flow.srcBytes + flow.srcPackets * header,
    resp_pkts: flow.dstPackets,
    resp_ip_bytes: flow.dstPackets === 0 ? 0 : flow.dstBytes + flow.dstPackets * header,
    ip_proto: protocolNumbers[flow.transport],
  });
}

function dns(lookup: Lookup): string {
  const { flow, answers } = lookup;
  return JSON.stringify({
    _path: 'dns',
    ts: seconds(flow.start),
    uid: flow.uid,
    'id.orig_h': flow.src,
    'id.orig_p': flow.srcPort,
    'id.resp_h': flow.dst,
    'id.resp_p': flow.dstPort,
    proto: flow.transport,
    trans_id: lookup.id,
    rtt: seconds(lookup.rttMs),
    query: lookup.query,
    qclass: 1,
    qclass_name: 'C_INTERNET',
    qtype: queryTypes[lookup.qtype],
    qtype_name: lookup.qtype,
    rcode: responseCodes[lookup.rcode],
    rcode_name: lookup.rcode,
    AA: false,
    TC: false,
    RD: true,
    RA: true,
    Z: 0,
    ...(answers.length === 0
      ? {}
      : {
          // Zeek prefixes text records with their type and length.
          answers: answers.map((a) => (a.type === 'TXT' ? `TXT ${a.data.length} ${a.data}` : a.data)),
          TTLs: answers.map((a) => a.ttl),
        }),
    rejected: false,
  });
}

function notice(event: Notice): string {
  return JSON.stringify({
    _path: 'notice',
    ts: seconds(event.time),
    note: event.note,
    msg: event.message,
    sub: event.sub,
    src: event.src,
    dst: event.dst,
    p: event.port,
    actions: ['Notice::ACTION_LOG'],
    suppress_for: 3600,
  });
}

/** Converts milliseconds to seconds with microseconds. */
function seconds(ms: number): number {
  return Math.round(ms * 1000) / 1e6;
}

function isLocal(address: string): boolean {
  return address.startsWith('10.') || address.startsWith('192.168.') || address.startsWith('fd');
}
