import { direction } from './addresses.ts';
import { newNetworkRecord } from './event-records.ts';
import { type JsonObject, port, requiredText, text, zeekTime } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import { zeekEvidence } from './sensor-evidence.ts';
import { type ZeekIds, zeekSensor, zeekTransport } from './zeek-envelope.ts';

const record = newNetworkRecord();

/**
 * Reads a line of notice.log (zeek scripts/base/frameworks/notice/main.zeek). A notice about a connection has
 * `id.*`; a notice about hosts has `src`, `dst` and possibly the port `p`. A notice with both addresses is also
 * an event.
 */
export function zeekNotice(r: JsonObject, ids: ZeekIds, { addresses, sensor, detectors, batch }: ParseContext): void {
  const ofConnection = ids.orig_h !== undefined && ids.orig_h !== null;
  const src = ofConnection ? addresses.required(ids.orig_h, ids.names.orig_h) : addresses.optional(r.src, 'src');
  const dst = ofConnection ? addresses.required(ids.resp_h, ids.names.resp_h) : addresses.optional(r.dst, 'dst');
  const srcPort = ofConnection ? port(ids.orig_p, ids.names.orig_p) : undefined;
  const dstPort = ofConnection ? port(ids.resp_p, ids.names.resp_p) : port(r.p, 'p');
  const transport = zeekTransport(r.proto, 'proto');
  const timestamp = zeekTime(r.ts, 'ts');
  const uid = text(r.uid, 'uid');
  const communityId = text(r.community_id, 'community_id');
  const from = sensor ?? zeekSensor(r._system_name, r['@system'], r._node_name);
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
  record.id = undefined;
  record.timestamp = timestamp;
  record.src_ip = src.text;
  record.src_port = srcPort;
  record.dst_ip = dst.text;
  record.dst_port = dstPort;
  record.transport = transport ?? 'unknown';
  record.direction = direction(src, dst);
  record.community_id = communityId;
  record.connection_id = uid;
  record.sensor = from;
  record.source = 'zeek';
  record.severity = finding.severity;
  return batch.addFinding(finding, record);
}
