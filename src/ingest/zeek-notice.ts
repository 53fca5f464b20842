import type { NetworkRecord } from '../events/records.ts';
import { direction } from './addresses.ts';
import { type JsonObject, port, requiredText, text, zeekTime } from './fields.ts';
import type { Reading } from './reading.ts';
import { zeekEvidence } from './sensor-evidence.ts';
import { type ZeekIds, zeekSensor, zeekTransport } from './zeek-envelope.ts';

/**
 * A line of notice.log (zeek scripts/base/frameworks/notice/main.zeek). Its connection is in `id.*`; a notice about
 * hosts has `src`, `dst` and perhaps `p`, the port in question. One with both addresses is an event as well.
 */
export function zeekNotice(
  r: JsonObject,
  ids: ZeekIds,
  { addresses, sensor, detectors, batch }: Reading,
): void {
  const ofConnection = ids.orig_h !== undefined && ids.orig_h !== null;
  const src = ofConnection
    ? addresses.required(ids.orig_h, ids.names.orig_h)
    : addresses.optional(r.src, 'src');
  const dst = ofConnection
    ? addresses.required(ids.resp_h, ids.names.resp_h)
    : addresses.optional(r.dst, 'dst');
  const srcPort = ofConnection ? port(ids.orig_p, ids.names.orig_p) : undefined;
  const dstPort = ofConnection ? port(ids.resp_p, ids.names.resp_p) : port(r.p, 'p');
  const transport = zeekTransport(r.proto, 'proto');
  const timestamp = zeekTime(r.ts, 'ts');
  const uid = text(r.uid, 'uid');
  const communityId = text(r.community_id, 'community_id');
  const from = sensor ?? zeekSensor(r);
  const finding = detectors.zeekNotice({
    timestamp,
    src_ip: src?.text,
    src_port: srcPort,
    dst_ip: dst?.text,
    dst_port: dstPort,
    transport,
    note: requiredText(r.note, 'note'),
    msg: text(r.msg, 'msg'),
    sub: text(r.sub, 'sub'),
    evidence: zeekEvidence(r),
  });
  if (src === undefined || dst === undefined) return batch.addFinding(finding, undefined);
  const record: NetworkRecord = {
    id: undefined,
    timestamp,
    duration_ms: undefined,
    src_ip: src.text,
    src_port: srcPort,
    src_mac: undefined,
    dst_ip: dst.text,
    dst_port: dstPort,
    dst_mac: undefined,
    transport: transport ?? 'unknown',
    app_protocol: undefined,
    src_bytes: undefined,
    dst_bytes: undefined,
    src_payload_bytes: undefined,
    dst_payload_bytes: undefined,
    src_packets: undefined,
    dst_packets: undefined,
    missed_bytes: undefined,
    state: undefined,
    conn_state: undefined,
    history: undefined,
    direction: direction(src, dst),
    community_id: communityId,
    connection_id: uid,
    vlan: undefined,
    sensor: from,
    source: 'zeek',
    severity: finding.severity,
  };
  return batch.addFinding(finding, record);
}
