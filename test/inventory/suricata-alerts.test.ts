/** Alerts of sensors that do not record which host opened the flow: half of the alerts are on replies. */
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openBlock } from '../../src/events/format/block.ts';
import { ConnectionMemory } from '../../src/inventory/model/connection-memory.ts';
import { Observations } from '../../src/inventory/model/observations.ts';
import { hasShared, parse, sharedFile } from '../ingest/ingesting.ts';

const files = [
  'duplicate-alerts.eve.ndjson.gz',
  'first-org-conf-2015.alerts.ndjson',
  'honeypot-2018.alerts.ndjson',
  'wrccdc-2017.alerts.ndjson',
  'wrccdc-2018.alerts.ndjson',
];
const home = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];

interface Eve {
  readonly event_type: string;
  readonly dest_ip: string;
  readonly dest_port: number;
  readonly flow?: { readonly pkts_toclient: number };
}

describe.skipIf(!hasShared)('real alerts', () => {
  test.each(files)('alerts in %s create a service only for an answered flow to that service', (name) => {
    const bytes = sharedFile(`suricata/${name}`);
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const answered = new Set(
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Eve)
        .filter(({ event_type, flow }) => event_type === 'flow' && (flow?.pkts_toclient ?? 0) > 0)
        .map(({ dest_ip, dest_port }) => `${dest_ip} ${dest_port}`),
    );
    const observations = new Observations();
    const memory = new ConnectionMemory(2 ** 14);
    for (const buffer of parse(text, { home }).blocks) {
      const block = openBlock(buffer, 1);
      if (block.table === 'network') observations.add(block, memory);
    }
    const services = Array.from(observations.services(), ({ ip, port }) => `${ip} ${port}`);
    expect(services.filter((service) => !answered.has(service))).toEqual([]);
  });
});
