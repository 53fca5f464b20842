/**
 * Alerts of behaviour detectors are updated (figures, times, severity) while the activity continues, until a
 * user closes them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { type AttackLine, attackLines, conn } from './attack-lines.ts';
import { inFormat } from './eve-lines.ts';
import { adminOf, openService, type Service } from './service.ts';

const hourMs = 3_600_000;
const patience = { timeout: 60_000, interval: 200 };
const sixHoursAgo = Math.floor(Date.now() / hourMs) * hourMs - 6 * hourMs;
/** The attacks take five hours. They are within one day in UTC, because exfiltration is summed by day. */
const start = sixHoursAgo - Math.max(0, new Date(sixHoursAgo).getUTCHours() - 19) * hourMs;
const linesOf = { Zeek: attackLines(start, 'Zeek'), Suricata: attackLines(start, 'Suricata') };

let service: Service;
let token: string;

async function send(some: readonly AttackLine[], by = token): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const text = some.map(({ line }) => line).join('\n');
  const { status } = await service.call('ingest', 'POST /api/v1/ingest', {
    token: by,
    text,
    headers,
  });
  expect(status).toBe(200);
}

type Item = { readonly id: string; readonly attributes: Alert };

async function alertsOf(rule: string, src: string): Promise<Item[]> {
  const path = `GET /api/v1/alerts?rule_id=behaviour.${rule}&src_ip=${src}`;
  const { body } = await service.call('listAlerts', path, { token });
  return (body as { data: Item[] }).data;
}

async function only(rule: string, src: string): Promise<Item> {
  const [alert, ...others] = await alertsOf(rule, src);
  expect(others).toEqual([]);
  return alert!;
}

const change = (id: string, json: Partial<Alert>) =>
  service.call('updateAlert', `PUT /api/v1/alerts/${id}`, { token, json });

const at = ({ time }: AttackLine) => new Date(time).toISOString();

/** Creates a sensor and returns its token. */
async function sensor(name: string): Promise<string> {
  const json = { name, kind: 'sensor', roles: ['sensor'] };
  const made = await service.call('createPrincipal', 'POST /api/v1/principals', { token, json });
  const principal_id = (made.body as { data: { id: string } }).data.id;
  const issued = await service.call('issueToken', 'POST /api/v1/tokens', {
    token,
    json: { name, principal_id, scopes: ['sensor'] },
  });
  return (issued.body as { data: { attributes: { token: string } } }).data.attributes.token;
}

describe.each([
  ['Zeek', 'Suricata'],
  ['Suricata', 'Zeek'],
] as const)('in %s lines', (format, continuing) => {
  const ofHost = (src: string, by: keyof typeof linesOf = format) =>
    linesOf[by].filter(({ line }) => line.includes(`"${src}"`));

  beforeAll(async () => {
    service = await openService();
    token = await adminOf(service);
  });
  afterAll(() => service.close());

  test('the alert of a port scan rises in severity and counts all ports, as one occurrence', async () => {
    const scan = ofHost('10.1.0.5');
    expect(scan).toHaveLength(1465);
    await send(scan.slice(0, 40));
    await expect.poll(() => alertsOf('port-scan', '10.1.0.5'), patience).toHaveLength(1);
    const { id, attributes: begun } = await only('port-scan', '10.1.0.5');
    expect(begun.severity).toBe('medium');
    await send(scan.slice(40, 332));
    const severity = async () => (await only('port-scan', '10.1.0.5')).attributes.severity;
    await expect.poll(severity, patience).toBe('high');
    expect((await only('port-scan', '10.1.0.5')).id).toBe(id);
    for (let from = 332; from < scan.length; from += 100) await send(scan.slice(from, from + 100));
    const evidence = async () => (await only('port-scan', '10.1.0.5')).attributes.evidence;
    await expect.poll(evidence, patience).toMatchObject({ ports_in_vain: 1465 });
    const { attributes } = await only('port-scan', '10.1.0.5');
    expect(attributes).toMatchObject({
      title: 'Port scan: 10.1.0.5 tried 1465 ports of 10.1.0.9',
      severity: 'high',
      count: 1,
      first_seen: at(scan[0]!),
      last_seen: at(scan.at(-1)!),
    });
    expect(attributes.description).toContain('1465 ports');
  });

  test('the alert of an exfiltration is updated to the total bytes and keeps the severity that an analyst set', async () => {
    const upload = ofHost('10.1.0.7');
    await send(upload.slice(0, 30));
    await expect.poll(() => alertsOf('exfiltration', '10.1.0.7'), patience).toHaveLength(1);
    const evidence = async () => (await only('exfiltration', '10.1.0.7')).attributes.evidence;
    await expect.poll(evidence, patience).toMatchObject({ bytes_out: 30 * 100_000_400 });
    const before = await only('exfiltration', '10.1.0.7');
    expect(before.attributes.severity).toBe('low');
    await change(before.id, { severity: 'informational' });
    await send(upload.slice(30));
    await expect.poll(evidence, patience).toMatchObject({ bytes_out: 52 * 100_000_400 });
    const { attributes } = await only('exfiltration', '10.1.0.7');
    expect(attributes).toMatchObject({ severity: 'informational', count: 1, last_seen: at(upload.at(-1)!) });
    expect(attributes.description).toMatch(/^5\.2 GB left 10\.1\.0\.7/);
  });

  test('a resolved alert stays unchanged, and continuing activity does not open another alert', async () => {
    const scan = ofHost('10.1.0.6');
    await send(scan.slice(0, 120));
    await expect.poll(() => alertsOf('network-scan', '10.1.0.6'), patience).toHaveLength(1);
    const evidence = async () => (await only('network-scan', '10.1.0.6')).attributes.evidence;
    await expect.poll(evidence, patience).toMatchObject({ targets_in_vain: 120 });
    const { id } = await only('network-scan', '10.1.0.6');
    await change(id, { status: 'resolved' });
    const told = async () => {
      const { title, evidence, count, last_seen, status } = (await only('network-scan', '10.1.0.6')).attributes;
      return { title, evidence, count, last_seen, status };
    };
    const resolved = await told();
    await send(scan.slice(120));
    // The alert of another host shows that a refresh has run since.
    await send(ofHost('198.51.100.9'));
    await expect.poll(() => alertsOf('port-scan', '198.51.100.9'), patience).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await told()).toEqual(resolved);
  });

  test('an activity that a sensor of another kind continues to report stays one alert, which names both sensors', async () => {
    const [one, other] = [await sensor('one'), await sensor('other')];
    const beacon = ofHost('10.1.0.10');
    await send(beacon.slice(0, 200), one);
    await expect.poll(() => alertsOf('beaconing', '10.1.0.10'), patience).toHaveLength(1);
    await send(ofHost('10.1.0.10', continuing).slice(200), other);
    const evidence = async () => (await only('beaconing', '10.1.0.10')).attributes.evidence;
    await expect.poll(evidence, patience).toMatchObject({ connections: 300 });
    const { attributes } = await only('beaconing', '10.1.0.10');
    expect(attributes.sensors?.map(({ name }) => name)).toEqual(['one', 'other']);
    expect(attributes).toMatchObject({ count: 1, last_seen: at(beacon.at(-1)!) });
  });

  test('new ports of a server update the alert of the day until its resolution, then raise a new alert', async () => {
    const dayMs = 24 * hourMs;
    const noon = Math.floor(Date.now() / dayMs) * dayMs - 12 * dayMs + 12 * hourMs;
    const answers = (...answered: readonly (readonly [port: number, day: number])[]): AttackLine[] =>
      answered.map(([port, day], n) => {
        const time = noon + day * dayMs + n * 1000;
        const uid = `C${port}-${day}-${n}`;
        const { line } = conn(time, { src: '10.9.0.7', dst: '10.9.0.1', port, uid });
        return { time, line: inFormat[format](line) };
      });
    const found = async () => {
      const path = 'GET /api/v1/alerts?rule_id=behaviour.new-service&dst_ip=10.9.0.1&sort=first_seen';
      const { body } = await service.call('listAlerts', path, { token });
      return (body as { data: Item[] }).data;
    };
    const shown = async () =>
      (await found()).map(({ attributes: { severity, count, evidence } }) => [severity, count, evidence?.ports]);

    await send(answers([443, 0], [443, 2], [443, 5], [443, 8]));
    await send(answers([8080, 9]));
    await expect.poll(shown, patience).toEqual([['low', 1, [8080]]]);
    await send(answers([8080, 9], [8081, 9]));
    await expect.poll(shown, patience).toEqual([['low', 1, [8080, 8081]]]);
    await send(answers([8080, 9], [8081, 9], [3389, 9]));
    await expect.poll(shown, patience).toEqual([['medium', 1, [8080, 8081, 3389]]]);

    const [first] = await found();
    await change(first!.id, { status: 'in_progress' });
    await change(first!.id, { status: 'resolved', verdict: 'benign' });
    await send(answers([8080, 9], [8081, 9], [3389, 9], [9000, 9], [5900, 10]));
    await expect.poll(shown, patience).toEqual([
      ['medium', 1, [8080, 8081, 3389]],
      ['medium', 1, [8080, 8081, 3389, 9000]],
      ['medium', 1, [5900]],
    ]);
  });
});
