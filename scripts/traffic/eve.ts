import type { Activity, Alert, Flow, Lookup, Notice } from './activity.ts';
import type { Written } from './zeek.ts';

/** Delays after which Suricata writes a flow: after its close, or after its last packet. */
const flowLogDelayMs = { closed: 2_000, quiet: 30_000 };

const applications: Readonly<Record<string, string>> = { ssl: 'tls' };

/** Formats activity as Suricata's EVE JSON: flows, alerts, and DNS in format 2 or 3. */
export function eveLines(activity: Exclude<Activity, Notice>, format: { dnsVersion: 2 | 3; iface: string }): Written[] {
  switch (activity.kind) {
    case 'flow':
      return [flowLine(activity, format.iface)];
    case 'lookup':
      return [...dnsLines(activity, format), flowLine(activity.flow, format.iface)];
    case 'alert':
      return [{ time: activity.time, line: alertLine(activity, format.iface) }];
  }
}

function envelope(time: number, eventType: string, flow: Flow, iface: string): object {
  return {
    timestamp: stamp(time),
    flow_id: flow.flowId,
    in_iface: iface,
    event_type: eventType,
    src_ip: flow.src,
    src_port: flow.srcPort,
    dest_ip: flow.dst,
    dest_port: flow.dstPort,
    proto: flow.transport.toUpperCase(),
  };
}

function counters(flow: Flow): object {
  const header = flow.transport === 'tcp' ? 54 : 42;
  return {
    pkts_toserver: flow.srcPackets,
    pkts_toclient: flow.dstPackets,
    bytes_toserver: flow.srcBytes + flow.srcPackets * header,
    bytes_toclient: flow.dstBytes + flow.dstPackets * header,
    start: stamp(flow.start),
  };
}

function application(flow: Flow): object {
  return flow.service === undefined ? {} : { app_proto: applications[flow.service] ?? flow.service };
}

function flowLine(flow: Flow, iface: string): Written {
  const end = flow.start + flow.durationMs;
  const closed = flow.transport === 'tcp' && flow.state !== 'S0';
  const time = end + (closed ? flowLogDelayMs.closed : flowLogDelayMs.quiet);
  const state = flow.dstPackets === 0 ? 'new' : closed ? 'closed' : 'established';
  const line = JSON.stringify({
    ...envelope(time, 'flow', flow, iface),
    ...application(flow),
    flow: {
      ...counters(flow),
      end: stamp(end),
      age: Math.floor(flow.durationMs / 1000),
      state,
      reason: 'timeout',
      alerted: false,
    },
    ...(flow.transport === 'tcp' ? { tcp: tcp(flow) } : {}),
  });
  return { time, line };
}

function tcp(flow: Flow): object {
  switch (flow.state) {
    case 'S0':
      return { tcp_flags: '02', tcp_flags_ts: '02', tcp_flags_tc: '00', syn: true, state: 'syn_sent' };
    case 'REJ':
      return {
        tcp_flags: '16',
        tcp_flags_ts: '02',
        tcp_flags_tc: '14',
        syn: true,
        rst: true,
        ack: true,
        state: 'closed',
      };
    case 'RSTO':
    case 'RSTR':
      return {
        tcp_flags: '1e',
        tcp_flags_ts: '1e',
        tcp_flags_tc: '1a',
        syn: true,
        rst: true,
        psh: true,
        ack: true,
        state: 'closed',
      };
    default:
      return {
        tcp_flags: '1b',
        tcp_flags_ts: '1b',
        tcp_flags_tc: '1b',
        syn: true,
        fin: true,
        psh: true,
        ack: true,
        state: 'closed',
      };
  }
}

function dnsLines(lookup: Lookup, format: { dnsVersion: 2 | 3; iface: string }): Written[] {
  const { flow } = lookup;
  const asked = flow.start;
  const answered = flow.start + lookup.rttMs;
  const question = { rrname: lookup.query, rrtype: lookup.qtype };
  const answers = lookup.answers.map((a) => ({
    rrname: lookup.query,
    rrtype: a.type,
    ttl: a.ttl,
    rdata: a.data,
  }));
  const flags = { flags: '8180', qr: true, rd: true, ra: true, opcode: 0 };
  const rest = answers.length === 0 ? {} : { answers };
  if (format.dnsVersion === 2) {
    const query = { type: 'query', id: lookup.id, ...question, tx_id: 0, opcode: 0 };
    const answer = {
      version: 2,
      type: 'answer',
      id: lookup.id,
      ...flags,
      ...question,
      rcode: lookup.rcode,
      ...rest,
    };
    return [
      { time: asked, line: JSON.stringify({ ...envelope(asked, 'dns', flow, format.iface), dns: query }) },
      {
        time: answered,
        line: JSON.stringify({ ...envelope(answered, 'dns', flow, format.iface), dns: answer }),
      },
    ];
  }
  // In format 3 the source of a response is the resolver.
  const back = { ...flow, src: flow.dst, srcPort: flow.dstPort, dst: flow.src, dstPort: flow.srcPort };
  const ids = { version: 3, id: lookup.id };
  const request = {
    ...ids,
    type: 'request',
    tx_id: 0,
    flags: '100',
    rd: true,
    opcode: 0,
    rcode: 'NOERROR',
    queries: [question],
  };
  const response = {
    ...ids,
    type: 'response',
    tx_id: 1,
    ...flags,
    rcode: lookup.rcode,
    queries: [question],
    ...rest,
  };
  return [
    { time: asked, line: JSON.stringify({ ...envelope(asked, 'dns', flow, format.iface), dns: request }) },
    {
      time: answered,
      line: JSON.stringify({ ...envelope(answered, 'dns', back, format.iface), dns: response }),
    },
  ];
}

function alertLine(alert: Alert, iface: string): string {
  const { signature, flow } = alert;
  return JSON.stringify({
    ...envelope(alert.time, 'alert', flow, iface),
    ...application(flow),
    alert: {
      action: 'allowed',
      gid: 1,
      signature_id: signature.sid,
      rev: signature.rev,
      signature: signature.text,
      category: signature.category,
      severity: signature.severity,
      ...(signature.metadata === undefined ? {} : { metadata: signature.metadata }),
    },
    flow: counters(flow),
  });
}

/** Formats a time as Suricata does: `2026-11-20T09:15:00.123456+0000`. */
function stamp(time: number): string {
  const micros = Math.round(time * 1000);
  const ms = Math.floor(micros / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros - ms * 1000).padStart(3, '0')}+0000`;
}
