import type { NetworkRecord } from '../events/records.ts';
import { type SuricataMetadata, suricataMetadataKeys } from '../events/sensor-alert.ts';
import { isAddress } from '../net/ip.ts';
import { isObject, type JsonObject, list, object, port, requiredText, text, whole, word } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import type { RecordFields } from './record-fields.ts';
import { reject } from './rejection.ts';
import { suricataEvidence } from './sensor-evidence.ts';
import { dstPort, eveSlots, icmpCode, icmpType, srcPort, suricataTransport } from './suricata-envelope.ts';
import { type FlowEnds, flowRecord } from './suricata-flow.ts';
import { takeTransaction } from './suricata-hosts.ts';
import { suricataShown } from './suricata-shown.ts';

/**
 * Reads an EVE alert: a finding, and the event in which the sensor saw the match. The finding has the addresses
 * of the packet as the sensor wrote them. The event has the addresses of the flow, which are in reverse order
 * if a reply raised the alert. Alerts on packets that are not IP have no addresses, and become findings without
 * events.
 */
export function suricataAlert(fields: RecordFields, reading: ParseContext, r: JsonObject): void {
  const { addresses, detectors, batch } = reading;
  const alert = object(r.alert, 'alert') ?? reject('alert', 'is missing');
  const src = addresses.optional(fields.value(eveSlots.src_ip), 'src_ip');
  const dst = addresses.optional(fields.value(eveSlots.dest_ip), 'dest_ip');
  const src_port = srcPort(fields);
  const dst_port = dstPort(fields);
  const transport = suricataTransport(fields);
  const found = detectors.suricataAlert({
    timestamp: fields.isoTime(eveSlots.timestamp, 'timestamp'),
    src_ip: src?.text,
    src_port,
    dst_ip: dst?.text,
    dst_port,
    transport,
    gid: word(alert.gid, 'alert.gid') ?? 1,
    signature_id: word(alert.signature_id, 'alert.signature_id') ?? reject('alert.signature_id', 'is missing'),
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
  const ends = flowEnds(fields, r, packet, reading);
  const { src: client, dst: server, dst_port: serverPort } = ends ?? packet;
  takeTransaction(r, { src: client.text, dst: server.text, port: serverPort }, reading);
  const record = flowRecord(fields, ends ?? packet, transport ?? 'unknown', reading);
  if (ends === undefined) Object.assign(record, sidesUnknown);
  record.severity = finding.severity;
  return batch.addFinding(finding, record);
}

/**
 * Values for flows whose originator is unknown. The event then has the addresses of the packet. The counters and some
 * other fields belong to the sides of the flow, which may be reversed. Therefore, these fields are left out.
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
 * Returns the flow's addresses and ports. Since Suricata 7, `flow` contains the addresses; since Suricata 6,
 * `direction` shows whether the server sent the packet. Returns undefined if both fields are missing.
 */
function flowEnds(
  fields: RecordFields,
  r: JsonObject,
  packet: FlowEnds,
  { addresses }: ParseContext,
): FlowEnds | undefined {
  const flow = r.flow;
  if (isObject(flow) && flow.src_ip !== undefined && flow.dest_ip !== undefined) {
    return {
      // The ICMP type goes into src_port and the code into dst_port, whichever side sent the packet.
      src: addresses.required(flow.src_ip, 'flow.src_ip'),
      src_port: port(flow.src_port, 'flow.src_port') ?? icmpType(fields),
      dst: addresses.required(flow.dest_ip, 'flow.dest_ip'),
      dst_port: port(flow.dest_port, 'flow.dest_port') ?? icmpCode(fields),
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
      kept[key] = values.map((value) => text(value, field) ?? reject(field, 'contains null'));
    }
  }
  return kept;
}

/**
 * Returns the name in the record's transaction: DNS question (format 3: `queries`; 2: `query`), TLS server
 * name, HTTP host. The name is an addition to the finding, so the function omits a name that is unreadable or an
 * address.
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
