import type { JsonObject } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import { suricataAlert } from './suricata-alert.ts';
import { suricataDns } from './suricata-dns.ts';
import { suricataFlow } from './suricata-flow.ts';
import { suricataDhcp, suricataFile, suricataHttp, suricataQuic, suricataTls } from './suricata-hosts.ts';

const kindOf = memoize((type) => `suricata.${type}`);

/**
 * Reads one EVE record (OISF/suricata etc/schema.json), which always has `event_type` and `timestamp`. `flowId`
 * is the record's flow_id as written. Returns the kind of the record; undefined, without any effect, for other
 * records.
 */
export function readSuricata(
  record: JsonObject,
  flowId: string | undefined,
  reading: ParseContext,
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
