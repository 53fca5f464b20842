/**
 * The documented configurations of syslog-ng and rsyslog, with the real programs:
 * scripts/with-log-shippers.sh fetches them.
 */
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shippers, startShipper } from '../../scripts/log-shippers.ts';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { Status } from '../../src/contract/resources/status.ts';
import { call, type Item } from './call.ts';

const unpacked = process.env.LOG_SHIPPERS;
const page = readFileSync(new URL('../../src/docs/shippers.md', import.meta.url), 'utf8');
/** Returns the documented configuration of a shipper. */
const documented = (name: string): string => new RegExp(`\`\`\`${name}\n([^]*?)\`\`\``).exec(page)![1]!;

const header = (path: string, fields: string, types: string): string =>
  [
    '#separator \\x09',
    '#set_separator\t,',
    '#empty_field\t(empty)',
    '#unset_field\t-',
    `#path\t${path}`,
    `#fields\t${fields.replaceAll(' ', '\t')}`,
    `#types\t${types.replaceAll(' ', '\t')}`,
    '',
  ].join('\n');
const connHeader = header('conn', 'ts uid id.orig_h id.resp_h proto conn_state', 'time string addr addr enum string');
const connRow = (uid: string) => `1767268800.5\t${uid}\t10.0.0.1\t198.51.100.2\ttcp\tSF\n`;
const dnsHeader = header(
  'dns',
  'ts uid id.orig_h id.resp_h proto trans_id query',
  'time string addr addr enum count string',
);
const dnsRow = (uid: string) => `1767268800.5\t${uid}\t10.0.0.1\t10.0.0.53\tudp\t7\ta.example\n`;
const json = (uid: string) =>
  `{"ts":1767268800.5,"uid":"${uid}","id.orig_h":"10.0.0.1","id.resp_h":"198.51.100.2","proto":"tcp","conn_state":"SF"}\n`;

let service: Service;
let admin: string;

beforeAll(async () => {
  if (unpacked === undefined) return;
  service = await startService();
  admin = await login(service);
});
afterAll(() => service?.stop());

describe.skipIf(unpacked === undefined).each(shippers)('%s, as documented', (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-shipper-'));
  const file = (log: string) => join(folder, `${log}.log`);
  let shipper: ChildProcess;
  /** Counts before this shipper, because all shippers share the service. */
  let before: Status;

  beforeAll(async () => {
    before = await status();
    const conf = documented(name)
      .replace('<token>', await tokenFor(service, 'sensor'))
      .replaceAll('localhost', '127.0.0.1')
      .replaceAll('8080', new URL(service.url).port)
      .replaceAll('/opt/zeek/logs/current', folder)
      .replaceAll('/var/log', folder);
    writeFileSync(join(folder, 'conf'), `${conf}\n${name === 'rsyslog' ? `global(workDirectory="${folder}")\n` : ''}`);
    writeFileSync(file('conn'), connHeader);
    writeFileSync(file('dns'), dnsHeader);
    shipper = startShipper(name, unpacked!, folder);
  });
  afterAll(async () => {
    shipper?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const status = async (): Promise<Status> =>
    ((await call(service, 'getStatus', { token: admin })).body as { data: Item }).data.attributes as unknown as Status;
  const stored = async () => {
    const { store } = await status();
    return [store.network_events - before.store.network_events, store.dns_events - before.store.dns_events];
  };
  /** Returns the counts of events of this shipper that were not stored. */
  const notStored = async () => {
    const { not_stored } = await status();
    const names = ['rejected', 'refused', 'credentials'] as const;
    return Object.fromEntries(names.map((count) => [count, not_stored[count] - before.not_stored[count]]));
  };

  test('rows of growing logs are stored, even long after their headers', async () => {
    for (let n = 0; n < 3; n++) {
      appendFileSync(file('conn'), connRow(`C${n}`));
      appendFileSync(file('dns'), dnsRow(`D${n}`));
      await expect.poll(stored, { timeout: 60_000, interval: 200 }).toEqual([n + 1, n + 1]);
    }
    expect(await notStored()).toEqual({ rejected: 0, refused: 0, credentials: 0 });
  });

  test('invalid lines are counted with a sample, and later valid lines are stored', async () => {
    const bad = [`a line of something else than ${name}`, '{"ts":1767268800.5,"uid":', 'tabs\tof\tno log'];
    for (const line of bad) appendFileSync(file('conn'), `${line}\n${json('J')}`);
    appendFileSync(file('conn'), connRow('C9'));
    await expect.poll(stored, { timeout: 60_000, interval: 200 }).toEqual([3 + bad.length + 1, 3]);
    const { not_stored, verdict } = await status();
    expect(await notStored()).toEqual({ rejected: bad.length, refused: 0, credentials: 0 });
    const samples = not_stored.reasons.flatMap(({ samples }) => samples);
    expect(samples).toContainEqual(expect.stringContaining(bad[0]!));
    expect(verdict.well).toBe(false);
    if (name === 'rsyslog') expect(readFileSync(join(folder, 'candor-rejected.json'), 'utf8')).toContain(bad[0]);
  });
});
