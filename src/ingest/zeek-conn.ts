import { joinedProtocols } from '../contract/app-protocols.ts';
import { zeekState } from '../events/connection-state.ts';
import { TextSpan } from '../events/format/text-span.ts';
import type { NetworkRecord, WithSpans } from '../events/records.ts';
import { direction } from './addresses.ts';
import { newNetworkRecord } from './event-records.ts';
import { count, mac, port, seconds, text, whole, zeekTime } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import type { RecordFields } from './record-fields.ts';
import { slotsOf } from './slots.ts';
import { requiredZeekTransport, zeekFields, zeekSensor } from './zeek-envelope.ts';

const networkRecord = newNetworkRecord();

const f = slotsOf(
  zeekFields,
  'conn_state service history duration orig_l2_addr resp_l2_addr orig_ip_bytes resp_ip_bytes orig_bytes resp_bytes orig_pkts resp_pkts missed_bytes vlan',
);
export const connSlots = f;
const uid = new TextSpan();
const communityId = new TextSpan();

/** Reads a line of conn.log (zeek scripts/base/protocols/conn/main.zeek), open_conn.log or conn_long.log. */
export function zeekConn(r: RecordFields, { addresses, sensor }: ParseContext): WithSpans<NetworkRecord> {
  const timestamp = zeekTime(r.value(f.ts), 'ts');
  const src = r.requiredAddress(f.orig_h, r.names.orig_h, addresses);
  const dst = r.requiredAddress(f.resp_h, r.names.resp_h, addresses);
  const connState = text(r.value(f.conn_state), 'conn_state');
  const service = text(r.value(f.service), 'service');
  const transport = requiredZeekTransport(r.value(f.proto), 'proto');
  const history = text(r.value(f.history), 'history');
  networkRecord.id = undefined;
  networkRecord.timestamp = timestamp;
  networkRecord.duration_ms = seconds(r.value(f.duration), 'duration');
  networkRecord.src_ip = src.text;
  networkRecord.src_port = port(r.value(f.orig_p), r.names.orig_p);
  networkRecord.src_mac = mac(r.value(f.orig_l2_addr), 'orig_l2_addr');
  networkRecord.dst_ip = dst.text;
  networkRecord.dst_port = port(r.value(f.resp_p), r.names.resp_p);
  networkRecord.dst_mac = mac(r.value(f.resp_l2_addr), 'resp_l2_addr');
  networkRecord.transport = transport;
  networkRecord.app_protocol = service === undefined ? undefined : services(service).kept;
  networkRecord.src_bytes = count(r.value(f.orig_ip_bytes), 'orig_ip_bytes');
  networkRecord.dst_bytes = count(r.value(f.resp_ip_bytes), 'resp_ip_bytes');
  networkRecord.src_payload_bytes = count(r.value(f.orig_bytes), 'orig_bytes');
  networkRecord.dst_payload_bytes = count(r.value(f.resp_bytes), 'resp_bytes');
  networkRecord.src_packets = count(r.value(f.orig_pkts), 'orig_pkts');
  networkRecord.dst_packets = count(r.value(f.resp_pkts), 'resp_pkts');
  networkRecord.missed_bytes = count(r.value(f.missed_bytes), 'missed_bytes');
  networkRecord.state = connState === undefined ? undefined : zeekState(connState, transport, history);
  networkRecord.conn_state = connState;
  networkRecord.history = history;
  networkRecord.direction = direction(src, dst);
  networkRecord.community_id = r.unique(f.community_id, 'community_id', communityId);
  networkRecord.connection_id = r.unique(f.uid, 'uid', uid);
  networkRecord.vlan = whole(r.value(f.vlan), 'vlan', 4095);
  networkRecord.sensor = sensor ?? zeekSensor(r.value(f._system_name), r.value(f['@system']), r.value(f._node_name));
  networkRecord.source = 'zeek';
  networkRecord.severity = 'informational';
  return networkRecord;
}

/**
 * Returns the protocols of a connection. Zeek writes a list (`ssl,http`). Protocols whose analyzers Zeek disabled begin
 * with `-`, and are left out.
 */
const services = memoize((list) => ({
  kept: joinedProtocols(list.split(',').filter((name) => !name.startsWith('-'))),
}));
