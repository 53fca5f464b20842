import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { limits } from '../../src/limits.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
});
afterAll(() => service.close());

const base64 = (text: string) => Buffer.from(text).toString('base64');
const request = 'GET /?x=<script>alert(1)</script> HTTP/1.1\r\n\r\n';

const line = (src_ip: string, alert: object, more: object = {}) => ({
  timestamp: '2026-01-01T00:00:00.000000+0000',
  event_type: 'alert',
  src_ip,
  src_port: 1234,
  dest_ip: '192.0.2.9',
  dest_port: 80,
  proto: 'TCP',
  alert: { signature_id: 2001, rev: 3, signature: 'A lookup in a request', severity: 1, ...alert },
  ...more,
});

/** Sends these lines and returns the alert that they raise. */
async function alertOf(...lines: readonly { readonly src_ip: string }[]): Promise<Alert> {
  const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
  expect(body).toMatchObject({ data: { accepted: lines.length, errors: [] } });
  const target = `GET /api/v1/alerts?src_ip=${lines[0]?.src_ip}`;
  const list = (await service.call('listAlerts', target, { token })).body as {
    data: { attributes: Alert }[];
  };
  expect(list.data).toHaveLength(1);
  return list.data[0]!.attributes;
}

test('a Suricata alert keeps the payload, the packet and the metadata of its signature', async () => {
  const metadata = { cve: ['CVE_2021_44228'], affected_product: ['Any'], created_at: ['2021_12_10'] };
  const references = ['https://example.org/advisory', 'cve,2021-45046'];
  const alert = await alertOf(
    line(
      '192.168.0.1',
      { metadata, references },
      { payload: base64(request), payload_printable: request, packet: base64('frame') },
    ),
  );
  expect(alert.payload).toEqual({ data: base64(request), packet: base64('frame') });
  expect(alert.signature).toEqual({
    cves: ['CVE-2021-45046', 'CVE-2021-44228'],
    references,
    metadata: [
      { key: 'affected_product', values: ['Any'] },
      { key: 'created_at', values: ['2021_12_10'] },
      { key: 'cve', values: ['CVE_2021_44228'] },
    ],
  });
  const exported = await service.call('exportAlerts', 'GET /api/v1/alerts/export?format=ocsf&src_ip=192.168.0.1', {
    token,
  });
  expect(JSON.parse(String(exported.body))).toMatchObject({
    vulnerabilities: [{ cve: { uid: 'CVE-2021-45046' } }, { cve: { uid: 'CVE-2021-44228' } }],
    evidences: [{ data: { payload: { data: base64(request) } } }],
    unmapped: { signature: { references } },
  });
});

test('a Suricata alert keeps the printable payload if there are no bytes; the latest payload replaces earlier ones', async () => {
  const first = line('192.168.0.2', {}, { payload_printable: 'first' });
  const later = {
    ...line('192.168.0.2', {}, { payload: base64('later') }),
    timestamp: '2026-01-01T00:01:00.000000+0000',
  };
  const last = { ...line('192.168.0.2', {}), timestamp: '2026-01-01T00:02:00.000000+0000' };
  expect((await alertOf(first)).payload).toEqual({ printable: 'first' });
  expect((await alertOf(later, last)).payload).toEqual({ data: base64('later') });
});

test('fields that an attacker controls are bounded, and do not cause a record to be rejected', async () => {
  const long = 'x'.repeat(100_000);
  const metadata = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`key_${n}`, Array(n).fill(long.slice(0, 500))]),
  );
  const huge = await alertOf(
    line(
      '192.168.0.3',
      { metadata, references: [long, 7, null] },
      { payload: base64(long), packet: base64(long), payload_printable: long },
    ),
  );
  expect(Buffer.from(huge.payload?.data ?? '', 'base64')).toHaveLength(limits.maxAlertPayloadBytes);
  expect(Buffer.from(huge.payload?.packet ?? '', 'base64')).toHaveLength(limits.maxAlertPacketBytes);
  expect(huge.signature?.metadata?.length).toBeLessThan(limits.maxSignatureValues);
  expect(JSON.stringify(huge).length).toBeLessThan(15_000);
  const strange = { payload: '<script>', packet: 7, payload_printable: '\ud800\u202e' };
  const odd = await alertOf(line('192.168.0.4', { metadata: { '': [], x: {} }, references: {} }, strange));
  expect(odd.payload).toEqual({ printable: '\ufffd\u202e' });
  expect(odd.signature).toBeUndefined();
});
