/**
 * The inventory: assets are viewed, classified by keys, edited concurrently, merged, split and deleted. Also
 * tests services.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, tokenFor } from '../../../scripts/service.ts';
import { isolateText, quoted } from '../../../src/console/ui/words.ts';
import { call, type Item, list, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, staysAt, violations } from './console.ts';

let open: Opened;
let admin: string;

/** Yields lines of 12 hosts, one second apart: each host requests the server's page and looks up www.example.com. */
function* visits(): Generator<object> {
  const now = Date.now() / 1000;
  for (let n = 1; n <= 12; n++) {
    const shared = { ts: now - 600 - n, 'id.orig_h': `10.1.0.${n}`, 'id.orig_p': 40_000 + n };
    yield {
      ...{
        ...shared,
        uid: `C${n}`,
        'id.resp_h': '10.1.0.100',
        'id.resp_p': 443,
        proto: 'tcp',
        service: 'ssl',
      },
      ...{ conn_state: 'SF', duration: 1, orig_bytes: 500, resp_bytes: 5000 * n, orig_ip_bytes: 700 },
      ...{ resp_ip_bytes: 5200 * n, orig_pkts: 5, resp_pkts: 8, history: 'ShADadFf' },
    };
    yield {
      ...{ ...shared, uid: `D${n}`, 'id.resp_h': '10.1.0.53', 'id.resp_p': 53, proto: 'udp', trans_id: n },
      ...{
        query: 'www.example.com',
        qtype_name: 'A',
        rcode: 0,
        rcode_name: 'NOERROR',
        answers: ['198.51.100.7'],
      },
    };
  }
}

const alert = {
  timestamp: new Date(Date.now() - 300_000).toISOString().replace('Z', '+0000'),
  ...{
    flow_id: 1,
    event_type: 'alert',
    src_ip: '10.1.0.1',
    src_port: 4000,
    dest_ip: '198.51.100.7',
    dest_port: 443,
  },
  proto: 'TCP',
  alert: {
    action: 'allowed',
    gid: 1,
    signature_id: 1,
    rev: 1,
    signature: 'Grave one',
    category: 'Misc',
    severity: 1,
  },
};

beforeAll(async () => {
  open = await openConsole();
  admin = await login(open.service);
  const sensor = await tokenFor(open.service, 'sensor');
  await send(open.service, sensor, [...visits(), alert].map((line) => JSON.stringify(line)).join('\n'));
});
afterAll(() => open.close());

const rows = (page: Page, name = 'Assets') => page.getByRole('grid', { name }).getByRole('row');
const row = (page: Page, text: string) => rows(page).filter({ has: page.getByText(text, { exact: true }) });
const detail = (page: Page) => page.getByRole('region', { name: 'Detail' });
const dialog = (page: Page) => page.getByRole('dialog');
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text });
const assetAt = async (ip: string): Promise<Item> => {
  const { data } = await list(open.service, 'listAssets', admin, `ip=${ip}`);
  if (data[0] === undefined) throw new Error(`no asset has ${ip}`);
  return data[0];
};
const more = async (page: Page, item: string) => {
  await detail(page)
    .getByRole('button', { name: /^More actions for/ })
    .click();
  await page.getByRole('menuitem', { name: item }).click();
};

async function assets(path = '/assets', width?: number): Promise<Page> {
  const page = await open.page({ path, ...(width !== undefined && { width }) });
  await settled(page);
  return page;
}

test('the console finds an asset by address, with its identity, risk and activity', async () => {
  const page = await assets('/assets?ip=10.1.0.1');
  await page.waitForURL(/id=/);
  const shown = detail(page);
  await shown.getByRole('heading', { name: '10.1.0.1', exact: true }).waitFor();
  await shown.getByText(/of 100, medium criticality/).waitFor();
  await shown.getByRole('link', { name: 'Grave one' }).first().waitFor();
  await shown.getByRole('img', { name: /1 alert last seen in this range/ }).waitFor();
  await shown.getByRole('img', { name: /Risk score over time: .* from 0 to \d+/ }).waitFor();
  await shown.getByRole('img', { name: /Network events over time/ }).waitFor();
  await shown.getByRole('row').filter({ hasText: '10.1.0.100' }).getByText('443').waitFor();
  await shown.getByText('example.com').waitFor();
  await shown.getByText('added address').waitFor();
  await settled(page);
  expect(await violations(page)).toEqual([]);
  // The detail stays closed, although the filter still matches one asset only.
  await page.keyboard.press('Escape');
  await shown.waitFor({ state: 'detached' });
  await row(page, '10.1.0.1').first().waitFor();
  await staysAt(page, '/assets?ip=10.1.0.1');
});

test('the console reports that no asset has an address, and suggests where to look', async () => {
  const page = await assets('/assets?ip=198.51.100.7');
  await page.getByText('No asset has this address').waitFor();
  await page.getByRole('link', { name: 'Show events' }).click();
  await page.waitForURL(/\/events\?.*ip=198\.51\.100\.7/);
  await page.locator('.events-count').getByText('1 network event', { exact: true }).waitFor();
});

test('the console manages several staged assets at once, by keys', async () => {
  const page = await assets();
  const quick = page.getByRole('navigation', { name: 'Quick views' });
  await quick.getByRole('link', { name: /^Staged/ }).click();
  await page.waitForURL(/state=staged/);
  await rows(page).nth(3).waitFor();
  const first = rows(page).nth(1).getByRole('gridcell').nth(1);
  const name = (await first.textContent()) ?? '';
  for (const key of ['j', 'x', 'j', 'j', 'X', 'm']) await page.keyboard.press(key);
  await toast(page, '3 assets: managed.').waitFor();
  // Changed assets stay in place until the list is refreshed.
  await expect.poll(() => rows(page).filter({ hasText: 'Managed' }).count()).toBe(3);
  expect(await first.textContent()).toBe(name);
  await expect.poll(() => quick.getByRole('link', { name: /^Managed/ }).textContent()).toContain('3');
  const { pagination } = await list(open.service, 'listAssets', admin, 'state=managed');
  expect(pagination.total).toBe(3);
  await page.keyboard.press('.');
  await expect.poll(() => rows(page).filter({ hasText: 'Managed' }).count()).toBe(0);
});

test("the console keeps typed input and another user's changes after a conflict", async () => {
  const { id } = await assetAt('10.1.0.100');
  const page = await assets(`/assets?id=${id}`);
  await detail(page).getByRole('heading', { name: '10.1.0.100' }).waitFor();
  await page.keyboard.press('e');
  await dialog(page).getByLabel('Owner').fill('Ana');
  await dialog(page).getByLabel('Tags').fill('rack 7\nweb');
  expect(await violations(page)).toEqual([]);
  await call(open.service, 'updateAsset', {
    token: admin,
    params: [id],
    json: { kind: 'server', owner: 'Ben' },
  });
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await dialog(page)
    .getByText(/Another user changed this asset/)
    .waitFor();
  await dialog(page)
    .getByText(`owner changed to ${isolateText('Ben')}`)
    .waitFor();
  expect(await dialog(page).getByLabel('Owner').inputValue()).toBe('Ana');
  expect(await dialog(page).getByLabel('Kind').inputValue()).toBe('server');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await dialog(page).waitFor({ state: 'detached' });
  const saved = await assetAt('10.1.0.100');
  expect(saved.attributes).toMatchObject({ owner: 'Ana', kind: 'server', tags: ['rack 7', 'web'] });
  await detail(page).getByText('rack 7', { exact: true }).waitFor();
});

test('the console creates an asset manually, and rejects an address of another asset at its field', async () => {
  const page = await assets();
  await rows(page).nth(1).waitFor();
  await page.keyboard.press('n');
  await dialog(page).getByRole('textbox', { name: 'Name', exact: true }).fill('<b>Coffee machine</b>');
  await dialog(page).getByLabel('IP addresses').fill('10.1.0.200\n10.1.0.2');
  await dialog(page).getByRole('button', { name: 'Create asset' }).click();
  await dialog(page).getByText('10.1.0.2 is an IP address of another asset').waitFor();
  expect(await dialog(page).getByRole('link', { name: 'Show the other asset' }).getAttribute('href')).toBe(
    `/assets?id=${(await assetAt('10.1.0.2')).id}`,
  );
  await dialog(page).getByLabel('IP addresses').fill('10.1.0.200');
  await dialog(page).getByRole('button', { name: 'Create asset' }).click();
  await detail(page).getByRole('heading', { name: '<b>Coffee machine</b>' }).waitFor();
  await detail(page).getByText('created manually').waitFor();
  await row(page, '<b>Coffee machine</b>').first().waitFor();
});

test('the console merges two assets, redirects the old link, and splits them again', async () => {
  const [from, into] = [await assetAt('10.1.0.4'), await assetAt('10.1.0.5')];
  const page = await assets(`/assets?id=${from.id}`);
  await more(page, 'Merge into another asset…');
  await dialog(page).getByLabel('Merge into').fill('10.1.0.5');
  await dialog(page)
    .getByRole('radio', { name: /10\.1\.0\.5/ })
    .check();
  expect(await violations(page)).toEqual([]);
  await dialog(page)
    .getByRole('button', { name: `Merge into ${quoted('10.1.0.5')}` })
    .click();
  await page.waitForURL(new RegExp(`id=${into.id}`));
  await detail(page).getByText('merged another asset into this one').waitFor();
  expect((await assetAt('10.1.0.4')).id).toBe(into.id);

  const old = await assets(`/assets?id=${from.id}`);
  await detail(old).getByText('This asset was merged into another one').waitFor();
  await detail(old).getByRole('link', { name: 'Show that asset' }).click();
  await detail(old).getByRole('heading', { name: '10.1.0.5' }).waitFor();

  await more(page, 'Split…');
  await dialog(page).getByLabel('10.1.0.4').check();
  expect(await violations(page)).toEqual([]);
  await dialog(page).getByRole('button', { name: 'Split off 1' }).click();
  await detail(page).getByRole('heading', { name: '10.1.0.4' }).waitFor();
  expect((await assetAt('10.1.0.4')).id).not.toBe(into.id);
});

test('the console deletes an asset after showing what is deleted with it', async () => {
  const { id } = await assetAt('10.1.0.6');
  const page = await assets(`/assets?id=${id}`);
  await more(page, 'Delete…');
  await dialog(page)
    .getByText(/permanently deletes/)
    .waitFor();
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await more(page, 'Delete…');
  await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await toast(page, 'deleted.').waitFor();
  await detail(page).waitFor({ state: 'detached' });
  await expect.poll(() => row(page, '10.1.0.6').count()).toBe(0);
  expect((await call(open.service, 'getAsset', { token: admin, params: [id] })).status).toBe(404);
});

test('the console lists services with their servers, clients and events', async () => {
  const page = await assets('/assets?state=staged&ip=10.1.0.100');
  await page.getByRole('button', { name: 'Services', exact: true }).click();
  await page.waitForURL(/view=services/);
  // A state of assets does not apply to services; the address filter is kept.
  expect([...new URL(page.url()).searchParams.keys()].sort()).toEqual(['ip', 'view']);
  await rows(page, 'Services').nth(1).waitFor();
  // Dispatches both keys in one task, before the browser renders.
  await page.evaluate(() => {
    for (const key of ['j', 'Enter'])
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });
  await detail(page)
    .getByRole('heading', { name: /443\/tcp.*10\.1\.0\.100/ })
    .waitFor();
  await detail(page).getByText('12 addresses in total').waitFor();
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await detail(page).getByRole('link', { name: '12 events' }).click();
  await page.waitForURL(/\/events\?.*dst_port=443/);
  await page.locator('.events-count').getByText('12 network events', { exact: true }).waitFor();
});

test('on a phone the list and the detail fit the window, and an unknown asset is reported', async () => {
  const page = await assets('/assets', phone);
  expect(await overflow(page)).toBe(0);
  await row(page, '10.1.0.1').first().click();
  await detail(page).waitFor();
  await settled(page);
  expect(await overflow(page)).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.goto('/assets?id=01a20223-84f0-797a-b020-ed2b57cb7cf5');
  await detail(page).getByRole('heading', { name: 'Asset not found' }).waitFor();
});
