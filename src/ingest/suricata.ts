import type { JsonObject } from './fields.ts';
import type { Reading } from './reading.ts';
import { remembered } from './remembered.ts';
import { suricataAlert } from './suricata-alert.ts';
import { suricataDns } from './suricata-dns.ts';
import { suricataFlow } from './suricata-flow.ts';
import { suricataDhcp, suricataFile, suricataHttp, suricataQuic, suricataTls } from './suricata-hosts.ts';

const kindOf = remembered((type) => `suricata.${type}`);

/**
 * One EVE record (OISF/suricata etc/schema.json): every one has `event_type` and `timestamp`. `flowId` is its
 * flow_id as written. The kind of record; undefined, and nothing done, where it is none of Suricata's.
 */
export function readSuricata(
  record: JsonObject,
  flowId: string | undefined,
  reading: Reading,
): string | undefined {
  if (typeof record.event_type !== 'string' || record.timestamp === undefined) return undefined;
  switch (record.event_type) {
    case 'flow':
      reading.batch.addNetwork(suricataFlow(record, flowId, reading));
      break;
    case 'alert':
      suricataAlert(record, flowId, reading);
      break;
    case 'dns':
      reading.batch.addDns(suricataDns(record, flowId, reading));
      break;
    case 'dhcp':
      suricataDhcp(record, reading);
      break;
    case 'tls':
      suricataTls(record, reading);
      break;
    case 'http':
      suricataHttp(record, reading);
      break;
    case 'fileinfo':
      suricataFile(record, reading);
      break;
    case 'quic':
      suricataQuic(record, reading);
      break;
    default:
      reading.batch.ignore();
  }
  return kindOf(record.event_type);
}
