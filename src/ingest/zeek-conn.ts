import { joinedProtocols } from '../contract/app-protocols.ts';
import { zeekState } from '../events/connection-state.ts';
import type { NetworkRecord } from '../events/records.ts';
import { direction } from './addresses.ts';
import { newNetworkRecord } from './event-records.ts';
import { count, type JsonObject, mac, port, seconds, text, whole, zeekTime } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import { requiredZeekTransport, type ZeekIds, zeekSensor } from './zeek-envelope.ts';

const networkRecord = newNetworkRecord();

/** Reads a line of conn.log (zeek scripts/base/protocols/conn/main.zeek), open_conn.log or conn_long.log. */
export function zeekConn(r: JsonObject, ids: ZeekIds, { addresses, sensor }: ParseContext): NetworkRecord {
  const timestamp = zeekTime(r.ts, 'ts');
  const src = addresses.required(ids.orig_h, ids.names.orig_h);
  const dst = addresses.required(ids.resp_h, ids.names.resp_h);
  const connState = text(r.conn_state, 'conn_state');
  const service = text(r.service, 'service');
  const transport = requiredZeekTransport(r.proto, 'proto');
  const history = text(r.history, 'history');
  networkRecord.id = undefined;
  networkRecord.timestamp = timestamp;
  networkRecord.duration_ms = seconds(r.duration, 'duration');
  networkRecord.src_ip = src.text;
  networkRecord.src_port = port(ids.orig_p, ids.names.orig_p);
  networkRecord.src_mac = mac(r.orig_l2_addr, 'orig_l2_addr');
  networkRecord.dst_ip = dst.text;
  networkRecord.dst_port = port(ids.resp_p, ids.names.resp_p);
  networkRecord.dst_mac = mac(r.resp_l2_addr, 'resp_l2_addr');
  networkRecord.transport = transport;
  networkRecord.app_protocol = service === undefined ? undefined : services(service).kept;
  networkRecord.src_bytes = count(r.orig_ip_bytes, 'orig_ip_bytes');
  networkRecord.dst_bytes = count(r.resp_ip_bytes, 'resp_ip_bytes');
  networkRecord.src_payload_bytes = count(r.orig_bytes, 'orig_bytes');
  networkRecord.dst_payload_bytes = count(r.resp_bytes, 'resp_bytes');
  networkRecord.src_packets = count(r.orig_pkts, 'orig_pkts');
  networkRecord.dst_packets = count(r.resp_pkts, 'resp_pkts');
  networkRecord.missed_bytes = count(r.missed_bytes, 'missed_bytes');
  networkRecord.state = connState === undefined ? undefined : zeekState(connState, transport, history);
  networkRecord.conn_state = connState;
  networkRecord.history = history;
  networkRecord.direction = direction(src, dst);
  networkRecord.community_id = text(r.community_id, 'community_id');
  networkRecord.connection_id = text(r.uid, 'uid');
  networkRecord.vlan = whole(r.vlan, 'vlan', 4095);
  networkRecord.sensor = sensor ?? zeekSensor(r);
  networkRecord.source = 'zeek';
  networkRecord.severity = 'informational';
  return networkRecord;
}

/**
 * Returns the protocols of a connection. Zeek writes a list (`ssl,http`), with a `-` before protocols whose
 * analyzers it disabled, which are left out.
 */
const services = memoize((list) => ({
  kept: joinedProtocols(list.split(',').filter((name) => !name.startsWith('-'))),
}));
