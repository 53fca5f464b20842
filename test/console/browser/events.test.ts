/** The event explorer: filters by time and text, details, live tail, and export as a file. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { tokenFor } from '../../../scripts/service.ts';
import { candor } from '../../cli/candor.ts';
import { send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

const minute = 60_000;
const start = Date.now() - 90 * minute;
const hostile = '<img src=x onerror=alert(1)>.example';

/** Events every 12 seconds: 300 in an hour, one of them severe, with ports in rotation. */
const network = Array.from({ length: 300 }, (_, n) => ({
  type: 'network_event',
  timestamp: new Date(start + n * 12_000).toISOString(),
  duration_ms: 1500,
  src_ip: `10.1.0.${1 + (n % 50)}`,
  src_port: 40_000 + n,
  dst_ip: n === 299 ? '198.51.100.7' : `198.18.0.${1 + (n % 20)}`,
  dst_port: [443, 80, 53][n % 3],
  transport: n % 3 === 2 ? 'udp' : 'tcp',
  app_protocol: ['ssl', 'http', 'dns'][n % 3],
  state: 'closed',
  src_bytes: 2048,
  dst_bytes: 4096,
  connection_id: `C${n}`,
  sensor: 'north',
  severity: n === 299 ? 'high' : 'informational',
}));
const dns = [
  {
    query: 'www.example.com',
    answers: [{ type: 'A', ttl: 300, data: '198.51.100.7' }],
    connection_id: 'C299',
  },
  { query: hostile, answers: [{ type: 'TXT', ttl: 60, data: '"><script>alert(1)</script>' }] },
].map((one, n) => ({
  type: 'dns_event',
  timestamp: new Date(start + 80 * minute + n).toISOString(),
  src_ip: '10.1.0.5',
  src_port: 5353,
  dst_ip: '10.1.0.53',
  dst_port: 53,
  transport: 'udp',
  kind: 'transaction',
  qtype: 'A',
  rcode: 0,
  rcode_name: 'NOERROR',
  sensor: 'north',
  ...one,
}));

let open: Opened;
let sensor: string;
const sendAll = (events: readonly object[]) =>
  send(open.service, sensor, events.map((event) => JSON.stringify(event)).join('\n'));

beforeAll(async () => {
  const env = { CANDOR_TRANSPARENCY_SEAL_EVENTS: 'true', CANDOR_TRANSPARENCY_SEAL_INTERVAL_MS: '1000' };
  open = await openConsole({ env });
  sensor = await tokenFor(open.service, 'sensor');
  await sendAll([...network, ...dns]);
});
afterAll(() => open.close());

/** A trace event of the browser: `tdur` is the CPU time of a task, in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
}

/** Returns how long the thread that runs the page's script was busy. */
function busyMs(events: readonly TraceEvent[]): number {
  const script = events.find(({ name }) => name === 'FireAnimationFrame')!;
  return events
    .filter(({ name, pid, tid }) => name.endsWith('::RunTask') && pid === script.pid && tid === script.tid)
    .reduce((sum, { tdur = 0 }) => sum + tdur / 1000, 0);
}

const rows = (page: Page) => page.locator('.table-row');
/** Returns the parts of rows that open the row on a click. The other parts are values, whose menus open instead. */
const moments = (page: Page) => page.locator('.table-row time');
const count = (page: Page) => page.locator('.events-count [role=status]');
const detail = (page: Page) => page.getByRole('region', { name: 'Detail' });
const search = (page: Page) => new URL(page.url()).searchParams;

async function shows(page: Page, total: string): Promise<void> {
  // The exact text: "4 network events" also occurs in "304 network events".
  await count(page)
    .filter({ hasText: new RegExp(`^${total}$`) })
    .waitFor();
}

test('the console lists all events of a time range newest first, and reverses the order with the heading', async () => {
  const page = await open.page({ path: '/events' });
  await shows(page, '300 network events');
  expect(await rows(page).first().textContent()).toContain('198.51.100.7');
  await page.getByRole('columnheader', { name: 'Time' }).getByRole('button').click();
  await page.waitForFunction(() => document.querySelector('.table-row')?.textContent?.includes(':40000'));
  expect(search(page).get('sort')).toBe('timestamp');
});

test('a tab shows how many events of the other table match, if that table has all filters', async () => {
  const page = await open.page({ path: '/events?sensor=north' });
  await page.getByRole('button', { name: 'Network 300', exact: true }).waitFor();
  await page.getByRole('button', { name: 'DNS 2', exact: true }).waitFor();
  await page.goto('/events?sensor=north&state=closed');
  await page.getByRole('button', { name: 'Network 300', exact: true }).waitFor();
  await settled(page);
  await page.getByRole('button', { name: 'DNS', exact: true }).waitFor();
});

test('an empty list states the bounds of its time range', async () => {
  const page = await open.page({ path: '/events?range=15m' });
  await page.getByText(/^No events since \S+ \S+\.$/).waitFor();
});

test('Enter opens the row, not the time menu, after a time was chosen by mouse', async () => {
  const page = await open.page({ path: '/events' });
  await shows(page, '300 network events');
  await page.getByRole('button', { name: 'Time: Last 24 hours' }).click();
  await page.getByRole('menuitem', { name: 'Last 7 days' }).click();
  await page.waitForURL(/range=7d/);
  await shows(page, '300 network events');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await detail(page).waitFor();
  expect(await page.getByRole('menu').count()).toBe(0);
});

test('the console adds, validates, negates and removes filters, and keeps them in the URL', async () => {
  const page = await open.page({ path: '/events' });
  await shows(page, '300 network events');
  await page.keyboard.press('/');
  await page.getByLabel('Filter by').selectOption('dst_port');
  await page.getByLabel('Value').fill('70000');
  await page.keyboard.press('Enter');
  await page.getByText('must be at most 65535').waitFor();
  await page.getByLabel('Value').fill('443, 80');
  await page.keyboard.press('Enter');
  await shows(page, '200 network events');
  expect(search(page).getAll('dst_port')).toEqual(['443', '80']);

  await page.getByRole('button', { name: /^Filter: dst port/ }).click();
  await page.getByRole('menuitem', { name: 'Exclude instead' }).click();
  await shows(page, '100 network events');
  expect(search(page).getAll('not_dst_port')).toEqual(['443', '80']);

  await page.keyboard.press('/');
  await page.getByLabel('Filter by').selectOption('src_ip');
  await page.getByLabel('Value').fill('10.1.0.0/28');
  await page.keyboard.press('Enter');
  await page.waitForURL(/src_ip=/);
  await page.getByRole('button', { name: /^Remove filter: dst port/ }).click();
  await shows(page, '90 network events');

  const other = await open.page({ path: `/events${new URL(page.url()).search}` });
  await shows(other, '90 network events');
});

test('the console reports that nothing matches, and how many events are stored', async () => {
  const page = await open.page({ path: '/events?dst_port=9' });
  await page.getByText('No matching network events in this range').waitFor();
  await page.getByText('300 stored in total').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('a range dragged on the histogram becomes the time range, and a double click widens it', async () => {
  const page = await open.page({ path: '/events' });
  await shows(page, '300 network events');
  const plot = page.locator('.events-histogram .u-over');
  await plot.waitFor();
  const box = (await plot.boundingBox())!;
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.9, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.97, y, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  const from = search(page).get('from')!;
  const length = Date.parse(search(page).get('to')!) - Date.parse(from);
  expect(length).toBeGreaterThan(0);
  expect(length).toBeLessThan(24 * 60 * minute);
  await page.keyboard.press('-');
  await expect.poll(() => search(page).get('from')).not.toBe(from);
  await page.goBack();
  await expect.poll(() => search(page).get('from')).toBe(from);
  await plot.dblclick();
  await expect.poll(() => search(page).get('from')).not.toBe(from);
});

test('an event shows all its values and related events, with links', async () => {
  const page = await open.page({ path: '/events' });
  await rows(page).first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const shown = detail(page);
  await shown.getByText('www.example.com').waitFor();
  for (const text of ['198.51.100.7', '40299', '2 KiB', '4 KiB', '1.5 s', 'north', 'C299', 'outbound', 'native'])
    expect(await shown.textContent()).toContain(text);
  expect(await shown.getByRole('link', { name: '10.1.0.50' }).getAttribute('href')).toMatch(/^\/assets\?id=/);
  await shown.getByText('JSON', { exact: true }).click();
  expect(await shown.locator('pre').textContent()).toContain('"connection_id": "C299"');
  expect(await violations(page)).toEqual([]);

  await shown.getByRole('button', { name: '198.51.100.7', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Exclude value' }).click();
  await shows(page, '299 network events');
  await detail(page).getByText('www.example.com').click();
  await page.waitForURL(/table=dns/);
  await shows(page, '1 DNS event');
});

test('the console proves an event, and the command line and the browser verify the downloaded proof', async () => {
  const page = await open.page({ path: '/events?range=all&q=C299' });
  await moments(page).first().click();
  await page.getByRole('button', { name: 'Prove this event' }).waitFor();
  const id = new URL(page.url()).searchParams.get('id')!;
  const token = await tokenFor(open.service, 'analyst');
  const proof = `${open.service.url}/api/v1/events/network/${id}/proof`;
  const headers = { authorization: `Bearer ${token}` };
  await vi.waitFor(async () => expect((await fetch(proof, { headers })).status).toBe(200), 60_000);
  await page.getByRole('button', { name: 'Prove this event' }).click();
  await page.getByText('Verified in this browser').waitFor();
  expect(await violations(page)).toEqual([]);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download proof' }).click();
  const file = await (await download).path();
  expect(await candor('verify', file, '--json')).toMatchObject({ code: 0, json: { event_id: id } });
  await page.goto('/transparency?view=verify');
  await page.getByLabel('File to verify').setInputFiles(file);
  await page.getByText(`The entry below covers network event ${id}`).waitFor();
});

test('the console opens the event in the URL even if it is not in the list, and reports an unknown event', async () => {
  const page = await open.page({ path: '/events?sort=timestamp' });
  await moments(page).first().click();
  const id = search(page).get('id')!;
  const other = await open.page({ path: `/events?range=15m&id=${id}` });
  await detail(other).getByText('40000').first().waitFor();
  const none = await open.page({ path: '/events?id=018f0000-0000-7000-8000-000000000001' });
  await none.getByText('Not found. It may have been deleted.').waitFor();
});

test('the events page shows values from senders as text', async () => {
  const page = await open.page({ path: '/events?table=dns' });
  await shows(page, '2 DNS events');
  expect(await rows(page).first().textContent()).toContain(hostile);
  await moments(page).first().click();
  await detail(page).getByText('"><script>alert(1)</script>').first().waitFor();
  expect(await page.locator('main img, main script').count()).toBe(0);
});

test('filters numbers by a minimum and a maximum, with the operators of the filter form', async () => {
  const page = await open.page({ path: '/events' });
  await shows(page, '300 network events');
  await page.keyboard.press('/');
  await page.getByLabel('Filter by').selectOption('src_port');
  const operators = page.getByLabel('Operator');
  expect(await operators.locator('option').allTextContents()).toEqual(['is', 'is not', 'is at least', 'is at most']);
  await operators.selectOption('is at least');
  await page.getByLabel('Value').fill('40010, 40020');
  await page.keyboard.press('Enter');
  await page.getByText('accepts one value only').waitFor();
  await page.getByLabel('Value').fill('40010');
  await page.keyboard.press('Enter');
  await shows(page, '290 network events');
  await page.goto(`${new URL(page.url()).pathname}?min_src_port=40010&max_src_port=40019`);
  await shows(page, '10 network events');
  await page.getByRole('button', { name: 'Remove filter: src port is at most 40019' }).click();
  await shows(page, '290 network events');
  expect(search(page).get('min_src_port')).toBe('40010');
  expect(await violations(page)).toEqual([]);
});

test('the values panel counts the most frequent values, and includes or excludes a value', async () => {
  const page = await open.page({ path: '/events' });
  await shows(page, '300 network events');
  await page.keyboard.press('v');
  const panel = detail(page);
  await panel.getByLabel('Attribute').selectOption('app_protocol');
  await panel.getByText('3 of 3 values.').waitFor();
  expect(await panel.getByRole('listitem').first().textContent()).toContain('100');
  expect(await violations(page)).toEqual([]);
  await panel.getByRole('button', { name: 'Not dns' }).click();
  await shows(page, '200 network events');
  await panel.getByRole('button', { name: 'Only tls' }).click();
  await shows(page, '100 network events');
});

test('columns are chosen, kept in the URL, and remembered', async () => {
  const page = await open.page({ path: '/events' });
  await rows(page).first().waitFor();
  await page.keyboard.press('c');
  await page.getByLabel('Sensor', { exact: true }).check();
  await page.getByLabel('State', { exact: true }).uncheck();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('columnheader', { name: 'Sensor' }).waitFor();
  expect(await page.getByRole('columnheader', { name: 'State' }).count()).toBe(0);
  const columns = search(page).get('columns');
  expect(columns).toContain('sensor');
  await page.goto('/alerts');
  await page.goto('/events');
  await page.waitForFunction((text) => new URLSearchParams(location.search).get('columns') === text, columns);
});

test('the events page shows an event live within a second; while paused, new events are counted and shown later', async () => {
  const page = await open.page({ path: '/events?q=livetest' });
  await page.getByText('No matching network events').waitFor();
  await page.keyboard.press('t');
  await page.getByText('Waiting for events').waitFor();
  const one = (n: number) => ({
    ...network[0],
    timestamp: new Date().toISOString(),
    src_port: 100 + n,
    sensor: 'livetest',
  });
  // Events sent after the subscription are shown.
  await sendAll([one(0)]);
  await page.getByText(':100', { exact: true }).waitFor();
  const sentAt = Date.now();
  await sendAll([one(1)]);
  await page.getByText(':101', { exact: true }).waitFor();
  expect(Date.now() - sentAt).toBeLessThan(1000);
  expect(await rows(page).first().textContent()).toContain(':101');

  await page.keyboard.press(' ');
  await page.getByText('Paused:').waitFor();
  await sendAll([one(2), one(3)]);
  await page.getByText('2 new').waitFor();
  expect(await rows(page).count()).toBe(2);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press(' ');
  await page.getByText(':103', { exact: true }).waitFor();
  expect(await rows(page).count()).toBe(4);

  await moments(page).nth(2).click();
  await page.getByText('Paused:').waitFor();
  await detail(page).getByText('101', { exact: true }).waitFor();
  await page.keyboard.press('t');
  await shows(page, '4 network events');
});

test('a thousand events per second leave the page mostly idle, and the page keeps only its maximum number of events', async () => {
  const page = await open.page({ path: '/events?live=1&q=flood' });
  await page.getByText('Waiting for events').waitFor();
  const seconds = 4;
  const flood = (n: number) =>
    Array.from({ length: 100 }, (_, i) => ({
      ...network[i],
      timestamp: new Date().toISOString(),
      src_port: 1000 + n,
      sensor: 'flood',
    }));
  await sendAll(flood(0));
  await page.getByText(':1000', { exact: true }).first().waitFor();
  await open.browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  const startedAt = Date.now();
  for (let n = 1; n <= seconds * 10; n++) {
    await sendAll(flood(n));
    await page.waitForTimeout(Math.max(0, startedAt + n * 100 - Date.now()));
  }
  const tookMs = Date.now() - startedAt;
  const trace = JSON.parse((await open.browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  expect(await page.locator('.events-lost').count()).toBe(0);
  await page
    .getByText(`:${1000 + seconds * 10}`, { exact: true })
    .first()
    .waitFor();
  const busy = busyMs(trace.traceEvents) / tookMs;
  expect(busy).toBeGreaterThan(0);
  expect(busy).toBeLessThan(0.5);
  expect(Number(await page.getByRole('grid').getAttribute('aria-rowcount'))).toBeLessThanOrEqual(2001);
});

test('the console announces newer events, and shows them on request', async () => {
  const page = await open.page({ path: '/events?q=newstest' });
  await page.getByText('No matching network events').waitFor();
  await sendAll([{ ...network[0], timestamp: new Date().toISOString(), sensor: 'newstest' }]);
  await page.getByRole('button', { name: '1 new' }).waitFor({ timeout: 60_000 });
  expect(await rows(page).count()).toBe(0);
  await page.keyboard.press('.');
  await shows(page, '1 network event');
  expect(await rows(page).count()).toBe(1);
});

test('the console exports filtered events as a file, and shows a command for the export', async () => {
  const page = await open.page({ path: '/overview' });
  // In a browser that can write files, only the system's dialog would be visible.
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  await page.goto('/events?dst_port=443&sensor=north&sort=timestamp');
  await shows(page, '100 network events');
  await page.keyboard.press('e');
  const dialog = page.getByRole('dialog');
  expect(await dialog.locator('pre').textContent()).toMatch(/curl .*\/api\/v1\/events\/network\?dst_port=443&/s);
  expect(await violations(page)).toEqual([]);
  for (const form of ['NDJSON', 'Arrow'] as const) {
    if (form === 'Arrow') await page.keyboard.press('e');
    await dialog.getByRole('button', { name: form }).click();
    const downloads = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    const file = readFileSync(await (await downloads).path());
    await dialog.waitFor({ state: 'detached' });
    if (form === 'Arrow') expect(file.readUInt32LE(0)).toBe(0xffffffff);
    else {
      const lines = file.toString().trimEnd().split('\n');
      expect(lines).toHaveLength(100);
      expect(lines.map((line) => JSON.parse(line).attributes.dst_port)).toEqual(Array(100).fill(443));
    }
  }
});

test('on a phone the detail covers the list, without overflow', async () => {
  const page = await open.page({ path: '/events', width: phone });
  await count(page).waitFor();
  await settled(page);
  expect(await overflow(page)).toBe(0);
  await moments(page).first().click();
  await detail(page).getByText('Identifiers').waitFor();
  expect(await rows(page).first().isVisible()).toBe(false);
  expect(await overflow(page)).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close details' }).click();
  await rows(page).first().waitFor();
});
