import { isAddress } from '../events/ip.ts';
import type { NetworkRecord } from '../events/records.ts';
import { type SuricataMetadata, suricataMetadataKeys } from '../events/sensor-alert.ts';
import {
  isObject,
  isoTime,
  type JsonObject,
  list,
  object,
  port,
  requiredText,
  text,
  whole,
  word,
} from './fields.ts';
import type { Reading } from './reading.ts';
import { reject } from './rejection.ts';
import { suricataEvidence } from './sensor-evidence.ts';
import { dstPort, icmpCode, icmpType, srcPort, suricataTransport } from './suricata-envelope.ts';
import { type FlowEnds, flowRecord } from './suricata-flow.ts';
import { takeTransaction } from './suricata-hosts.ts';
import { suricataShown } from './suricata-shown.ts';

/**
 * An EVE alert: a finding, and the event in which the sensor saw it. The finding keeps the ends of the packet as
 * the sensor wrote them; the event has those of the flow, which are the other way round when a reply raised it.
 * Alerts on packets that are not IP have no addresses, and are findings only.
 */
export function suricataAlert(r: JsonObject, flowId: string | undefined, reading: Reading): void {
  const { addresses, detectors, batch } = reading;
  const alert = object(r.alert, 'alert') ?? reject('alert', 'is missing');
  const src = addresses.optional(r.src_ip, 'src_ip');
  const dst = addresses.optional(r.dest_ip, 'dest_ip');
  const src_port = srcPort(r);
  const dst_port = dstPort(r);
  const transport = suricataTransport(r);
  const found = detectors.suricataAlert({
    timestamp: isoTime(r.timestamp, 'timestamp'),
    src_ip: src?.text,
    src_port,
    dst_ip: dst?.text,
    dst_port,
    transport,
    gid: word(alert.gid, 'alert.gid') ?? 1,
    signature_id:
      word(alert.signature_id, 'alert.signature_id') ?? reject('alert.signature_id', 'is missing'),
    rev: word(alert.rev, 'alert.rev'),
    signature: requiredText(alert.signature, 'alert.signature'),
    category: text(alert.category, 'alert.category'),
    severity: whole(alert.severity, 'alert.severity', 255) ?? reject('alert.severity', 'is missing'),
    action: text(alert.action, 'alert.action'),
    domain: domain(r),
    evidence: suricataEvidence(r),
    metadata: metadata(object(alert.metadata, 'alert.metadata')),
  });
  const finding = { ...found, ...suricataShown(alert, r) };
  if (src === undefined || dst === undefined) return batch.addFinding(finding, undefined);
  const packet = { src, src_port, dst, dst_port };
  const ends = flowEnds(r, packet, reading);
  const { src: client, dst: server, dst_port: serverPort } = ends ?? packet;
  takeTransaction(r, { src: client.text, dst: server.text, port: serverPort }, reading);
  const record = flowRecord(r, flowId, ends ?? packet, transport ?? 'unknown', reading);
  if (ends === undefined) Object.assign(record, sidesUnknown);
  record.severity = finding.severity;
  return batch.addFinding(finding, record);
}

/**
 * Where nobody says who opened the flow, the packet's ends stand for its own, and the counters, which are by its
 * sides, may be the other way round: they are left out, and with them whatever would say that one of them answered.
 */
const sidesUnknown = {
  src_bytes: undefined,
  dst_bytes: undefined,
  src_packets: undefined,
  dst_packets: undefined,
  state: undefined,
  conn_state: undefined,
} as const satisfies Partial<NetworkRecord>;

/**
 * `flow` names its own ends since Suricata 7; `direction` says since 6 whether the packet was the server's. Undefined
 * where neither is there.
 */
function flowEnds(r: JsonObject, packet: FlowEnds, { addresses }: Reading): FlowEnds | undefined {
  const flow = r.flow;
  if (isObject(flow) && flow.src_ip !== undefined && flow.dest_ip !== undefined) {
    return {
      // Type and code of ICMP stay with their columns whichever way the flow went.
      src: addresses.required(flow.src_ip, 'flow.src_ip'),
      src_port: port(flow.src_port, 'flow.src_port') ?? icmpType(r),
      dst: addresses.required(flow.dest_ip, 'flow.dest_ip'),
      dst_port: port(flow.dest_port, 'flow.dest_port') ?? icmpCode(r),
    };
  }
  if (r.direction === 'to_server') return packet;
  if (r.direction !== 'to_client') return undefined;
  return { src: packet.dst, src_port: packet.dst_port, dst: packet.src, dst_port: packet.src_port };
}

function metadata(given: JsonObject | undefined): SuricataMetadata {
  if (given === undefined) return {};
  const kept: Record<string, readonly string[]> = {};
  for (const key of suricataMetadataKeys) {
    const field = `alert.metadata.${key}`;
    const values = list(given[key], field);
    if (values !== undefined) {
      kept[key] = values.map((value) => text(value, field) ?? reject(field, 'holds null'));
    }
  }
  return kept;
}

/**
 * The name in the transaction that the record carries along: DNS question (format 3: `queries`; 2: `query`), TLS
 * server name, HTTP host. It adorns the finding, so one that cannot be read is left out.
 */
function domain(r: JsonObject): string | undefined {
  const { dns, tls, http } = r;
  const question = isObject(dns) ? (first(dns.queries) ?? first(dns.query) ?? dns) : undefined;
  const names = [
    isObject(question) ? question.rrname : undefined,
    isObject(tls) ? tls.sni : undefined,
    isObject(http) ? http.hostname : undefined,
  ];
  const name = names.find((one) => typeof one === 'string' && one !== '' && one.length <= 255);
  return typeof name === 'string' && !isAddress(name) ? name.toWellFormed() : undefined;
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}
