/**
 * Hostile text from sensors and users is rendered as text on every page: scripts in domain names, signatures,
 * host names, notes and rule files do not run.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, tokenFor } from '../../../scripts/service.ts';
import { call, list, send } from '../../system/call.ts';
import { type Opened, openConsole, settled } from './console.ts';

const script = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const attribute = '"><svg onload=window.hacked=1>';
const link = 'javascript:window.hacked=1';
/** Right-to-left text that would reorder the text around it. */
const turned = '\u202Etxt.exe';
const fileName = `invoice${turned}${script}`;

const now = Date.now() / 1000;
const host = '10.9.8.7';

async function sendHostile(service: Service): Promise<void> {
  const sensor = await tokenFor(service, 'sensor');
  const lines = [
    {
      ts: now - 60,
      uid: script,
      'id.orig_h': host,
      'id.orig_p': 4711,
      'id.resp_h': '10.9.8.1',
      'id.resp_p': 80,
      proto: 'tcp',
      service: script,
      conn_state: 'SF',
      history: attribute,
    },
    {
      ts: now - 50,
      uid: 'Cdns1',
      'id.orig_h': host,
      'id.orig_p': 4712,
      'id.resp_h': '10.9.8.1',
      'id.resp_p': 53,
      proto: 'udp',
      trans_id: 7,
      query: script,
      qtype_name: 'TXT',
      rcode: 0,
      rcode_name: 'NOERROR',
      answers: [script, attribute, turned],
    },
  ];
  const alert = {
    timestamp: new Date((now - 40) * 1000).toISOString(),
    event_type: 'alert',
    src_ip: host,
    src_port: 4713,
    dest_ip: '10.9.8.1',
    dest_port: 80,
    proto: 'TCP',
    alert: { gid: 1, signature_id: 9_000_001, rev: 1, signature: script, category: link, severity: 1 },
    http: { hostname: attribute, url: link, http_user_agent: script },
    fileinfo: { filename: fileName },
    payload: Buffer.from(`GET /${script} HTTP/1.1\r\n${turned}`).toString('base64'),
    packet: Buffer.from(script).toString('base64'),
  };
  Object.assign(alert.alert, {
    references: [link],
    metadata: { cve: ['CVE_2021_44228'], [script]: [attribute] },
  });
  await send(service, sensor, lines.map((line) => JSON.stringify(line)).join('\n'));
  await send(service, sensor, JSON.stringify(alert));
  const token = await login(service);
  const [raised] = (await list(service, 'listAlerts', token)).data;
  await call(service, 'addAlertNote', { token, params: [raised!.id], json: { text: `${script}\n${link}` } });
  await call(service, 'updateAlert', { token, params: [raised!.id], json: { tags: [attribute] } });
  const [asset] = (await list(service, 'listAssets', token, `ip=${host}`)).data;
  const named = { name: script, owner: attribute, notes: script, tags: [attribute] };
  if (asset === undefined) await call(service, 'createAsset', { token, json: { ...named, ip_addresses: [host] } });
  else await call(service, 'updateAsset', { token, params: [asset.id], json: named });
}

let open: Opened;
beforeAll(async () => {
  open = await openConsole({ data: sendHostile });
});
afterAll(() => open.close());

const ran = (page: Page): Promise<unknown> => page.evaluate(() => (window as { hacked?: unknown }).hacked);
/** Counts elements that can only come from hostile text, and links with a script URL. */
const made = (page: Page): Promise<number> =>
  page.evaluate(() => document.querySelectorAll('main img, main script, svg[onload], a[href^="javascript:"]').length);

/** Checks that the hostile text is visible; otherwise the test proves nothing. */
const seesText = (page: Page): Promise<void> => page.getByText(script).filter({ visible: true }).first().waitFor();

test.each([
  ['the overview', '/overview'],
  ['alerts', '/alerts'],
  ['network events', '/events'],
  ['DNS events', '/events?table=dns'],
  ['assets', '/assets'],
  ['the topology as a table, and its hosts', `/topology?range=all&view=table&id=${host}`],
  ['the log', '/transparency'],
])('the console shows hostile text as text: %s', async (_, path) => {
  const page = await open.page({ path });
  await settled(page);
  await seesText(page);
  expect([await ran(page), await made(page)]).toEqual([undefined, 0]);
});

test.each([
  ['an alert, its note and its evidence', '/alerts'],
  ['a network event', '/events'],
  ['a DNS event and its answers', '/events?table=dns'],
  ['an asset', '/assets'],
])('the console shows hostile text as text in the detail of %s', async (_, path) => {
  const page = await open.page({ path });
  await settled(page);
  // Click beside the values: a click on a value opens its menu.
  await page
    .getByRole('row')
    .nth(1)
    .click({ position: { x: 3, y: 3 } });
  await page.getByRole('region', { name: 'Detail' }).waitFor();
  await settled(page);
  await expect.poll(() => page.getByText(script, { exact: false }).count()).toBeGreaterThan(0);
  expect([await ran(page), await made(page)]).toEqual([undefined, 0]);
});

test('a user agent and a file name are text in the evidence of an alert', async () => {
  const page = await open.page({ path: '/alerts' });
  await page
    .getByRole('row')
    .nth(1)
    .click({ position: { x: 3, y: 3 } });
  const fact = (name: string) =>
    page
      .locator('.facts > div')
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator('dd');
  expect(await fact('File name').textContent()).toBe(fileName);
  expect(await fact('HTTP user agent').textContent()).toBe(script);
  expect(await fact('HTTP URL').textContent()).toBe(link);
  expect([await ran(page), await made(page)]).toEqual([undefined, 0]);
});

test("a payload is shown as text and as bytes, with the IDS signature's metadata", async () => {
  const page = await open.page({ path: '/alerts' });
  await page
    .getByRole('row')
    .nth(1)
    .click({ position: { x: 3, y: 3 } });
  const section = (name: string) =>
    page.locator('section.section').filter({ has: page.getByRole('heading', { name, exact: true }) });
  const payload = section('Payload');
  expect(await payload.locator('pre').first().textContent()).toBe(`GET /${script} HTTP/1.1\\u000d\n\\u202etxt.exe`);
  await payload.getByText('Hexadecimal').click();
  expect(await payload.locator('pre').nth(1).textContent()).toMatch(/^0000 {2}47 45 54 20 2f .* {2}GET \/<img src=x/);
  await payload.getByText('Packet').click();
  expect(await payload.locator('pre').nth(2).textContent()).toMatch(/^0000 {2}3c 69 6d 67 .* {2}<img src=x/);
  const signature = section('Signature');
  expect(await signature.textContent()).toContain('CVE-2021-44228');
  expect(await signature.textContent()).toContain(link);
  expect([await ran(page), await made(page)]).toEqual([undefined, 0]);
});

test('rejected records are shown with a sample as text', async () => {
  const sensor = await tokenFor(open.service, 'sensor');
  await send(open.service, sensor, `${script}\n{"_path":"conn","ts":"${script}"}`);
  const page = await open.page({ path: '/status' });
  const panel = page.getByRole('region', { name: 'Not stored' });
  await panel.getByText(`line 1: ${script}`).waitFor();
  expect(await panel.textContent()).toContain('records rejected');
  expect([await ran(page), await made(page)]).toEqual([undefined, 0]);
});

test('the console shows hostile text in the URL as text', async () => {
  const hostile = encodeURIComponent(script);
  const page = await open.page({
    path: `/alerts?q=${hostile}&title=${hostile}&id=${hostile}&sort=${hostile}&range=${hostile}`,
  });
  await settled(page);
  await seesText(page);
  expect(await page.getByRole('searchbox').inputValue()).toBe(script);
  expect([await ran(page), await made(page)]).toEqual([undefined, 0]);
});
