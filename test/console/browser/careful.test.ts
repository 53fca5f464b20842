/**
 * Protection against mistakes: lost notes, irreversible steps, and data that could reorder the console's texts or push
 * them out of view.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, tokenFor } from '../../../scripts/service.ts';
import { call, listAll, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

const turned = 'Invoice \u202e';
const long = `Long ${'x'.repeat(4000)}`;
const longName = `host-${'y'.repeat(250)}`;
/** Timeout for steps that can take long on a busy machine. */
const soon = { timeout: 60_000 };

async function sendAlerts(service: Service): Promise<void> {
  const json = { name: longName, ip_addresses: ['10.1.0.9'] };
  await call(service, 'createAsset', { token: await login(service), json });
  const titles = [turned, long, ...Array.from({ length: 6 }, (_, n) => `Careful ${n}`), 'Of a long name'];
  const alerts = titles.map((signature, n) => ({
    timestamp: new Date(Date.now() - n * 60_000).toISOString(),
    event_type: 'alert',
    src_ip: `10.1.0.${n + 1}`,
    src_port: 40_000 + n,
    dest_ip: '198.51.100.7',
    dest_port: 443,
    proto: 'TCP',
    alert: { gid: 1, signature_id: 3_000_000 + n, rev: 1, signature, category: 'Misc', severity: 3 },
  }));
  await send(service, await tokenFor(service, 'sensor'), alerts.map((one) => JSON.stringify(one)).join('\n'));
}

let open: Opened;
let admin: string;
beforeAll(async () => {
  open = await openConsole({ data: sendAlerts });
  admin = await login(open.service);
});
afterAll(() => open.close());

const alerts = () => listAll(open.service, 'listAlerts', admin);
const found = async (title: string) => {
  const alert = (await alerts()).find(({ attributes }) => attributes.title === title);
  if (alert === undefined) throw new Error(`no alert ${title}`);
  return alert;
};
const grid = (page: Page) => page.getByRole('grid', { name: 'Alerts' });
const dialog = (page: Page) => page.getByRole('dialog');
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Aborts all further requests about alerts. */
const cut = (page: Page) => page.route('**/api/v1/alerts/**', (route) => route.abort());
const mend = (page: Page) => page.unroute('**/api/v1/alerts/**');
async function queue(path: string, options = {}): Promise<Page> {
  const page = await open.page({ path, ...options });
  await grid(page).getByRole('row').nth(1).waitFor();
  await settled(page);
  return page;
}

test.each([
  ['a note', 'n', 'Control+Enter', { note_count: 1 }, 'Careful 0'],
  ['a resolution', 'r', 'Enter', { status: 'resolved', note_count: 1 }, 'Careful 1'],
])('%s that could not be sent is offered again with its text', async (_, key, send_, done, title) => {
  const page = await queue(`/alerts?q=${title.replace(' ', '+')}`);
  await press(page, 'j', key);
  await dialog(page).getByLabel('Note', { exact: true }).fill('seen on the gateway');
  await cut(page);
  await press(page, send_);
  await dialog(page).getByRole('alert').getByText('was not changed').waitFor(soon);
  const note = dialog(page).getByLabel('Note', { exact: true });
  expect(await note.inputValue()).toBe('seen on the gateway');
  expect(await violations(page)).toEqual([]);
  await mend(page);
  await note.press(send_);
  await expect.poll(() => found(title), soon).toMatchObject({ attributes: done });
  expect(await dialog(page).count()).toBe(0);
});

/** Sends a note on an alert; the request fails after the user has opened the assets page. */
async function failedAfterLeaving(title: string, note: string): Promise<Page> {
  const page = await queue(`/alerts?q=${title.replace(' ', '+')}`);
  const left = Promise.withResolvers<void>();
  await page.route('**/api/v1/alerts/**', async (route) => {
    await left.promise;
    await route.abort();
  });
  await press(page, 'j', 'n');
  await dialog(page).getByLabel('Note', { exact: true }).fill(note);
  await press(page, 'Control+Enter', 'g', 's');
  await page.getByRole('heading', { name: 'Assets', level: 1 }).waitFor();
  left.resolve();
  await page.getByText('was not changed; open Alerts to retry').waitFor(soon);
  await mend(page);
  return page;
}

test('the console reports a note that failed after leaving, and offers it again on return', async () => {
  const page = await failedAfterLeaving('Careful 3', 'seen before lunch');
  await press(page, 'g', 'a');
  const note = dialog(page).getByLabel('Note', { exact: true });
  await note.waitFor(soon);
  expect(await note.inputValue()).toBe('seen before lunch');
  await note.press('Control+Enter');
  await expect.poll(() => found('Careful 3'), soon).toMatchObject({ attributes: { note_count: 1 } });
  expect(await dialog(page).count()).toBe(0);
});

test("the console does not offer one user's unsent note to the next user", async () => {
  const vera = { name: 'vera', kind: 'user', roles: ['analyst'], password: 'an analyst of things' };
  expect((await call(open.service, 'createPrincipal', { token: admin, json: vera })).status).toBe(201);
  const page = await failedAfterLeaving('Careful 4', 'for my eyes only');
  await page.getByRole('button', { name: /account and appearance/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Name').fill(vera.name);
  await page.getByLabel('Password').fill(vera.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: /vera/ }).waitFor();
  await press(page, 'g', 'a');
  await grid(page).getByRole('row').nth(1).waitFor();
  await settled(page);
  expect(await dialog(page).count()).toBe(0);
});

test('the reason for a failed override is offered again', async () => {
  const page = await queue('/alerts?q=Careful+2');
  const { ai_verdict } = (await found('Careful 2')).attributes as { ai_verdict: { verdict: string } };
  await press(page, 'j', 'v', ai_verdict.verdict === 'test' ? '1' : '6');
  await dialog(page).getByLabel('Override the model').check();
  await dialog(page).getByLabel('Reason').fill('we tried the rule');
  await cut(page);
  await dialog(page).getByRole('button', { name: 'Override and record' }).click();
  await dialog(page).getByRole('alert').waitFor(soon);
  expect(await dialog(page).getByLabel('Reason').inputValue()).toBe('we tried the rule');
  await mend(page);
  await dialog(page).getByRole('button', { name: 'Override and record' }).click();
  await expect
    .poll(async () => (await found('Careful 2')).attributes.override, soon)
    .toMatchObject({ reason: 'we tried the rule' });
});

test('a failed note on many alerts is offered again', async () => {
  const page = await queue('/alerts?q=Careful&view=all');
  await press(page, 'Control+a', 'n');
  await dialog(page).getByLabel('Note', { exact: true }).fill('all of them');
  await cut(page);
  await press(page, 'Control+Enter');
  await dialog(page).getByRole('alert').getByText('No alerts were changed').waitFor(soon);
  expect(await dialog(page).getByLabel('Note', { exact: true }).inputValue()).toBe('all of them');
  await mend(page);
});

test('archiving requires confirmation in a dialog that says that it cannot be undone', async () => {
  const { id } = await found('Careful 5');
  await call(open.service, 'updateAlert', { token: admin, params: [id], json: { status: 'resolved' } });
  const status = async () => (await found('Careful 5')).attributes.status;
  const page = await queue('/alerts?q=Careful&view=all');
  await press(page, 'Control+a');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await dialog(page).getByRole('heading', { name: 'Archive 6 alerts?' }).waitFor();
  await dialog(page).getByText('This cannot be undone').waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel');
  await press(page, 'Enter');
  await expect.poll(() => dialog(page).count(), soon).toBe(0);
  expect(await status()).toBe('resolved');
  await page.goto(`/alerts?view=all&id=${id}`);
  await page.getByRole('region', { name: 'Detail' }).getByRole('button', { name: 'Archive' }).click();
  await dialog(page).getByRole('button', { name: 'Archive alert' }).click();
  await expect.poll(status, soon).toBe('archived');
});

test("a title with bidirectional text does not reorder the console's text around it", async () => {
  const page = await queue('/alerts?q=Invoice');
  await press(page, 'j', 's');
  const shown = '\u2068Invoice \\u{202e}\u2069';
  await dialog(page).getByText('Silences alerts with rule').waitFor();
  expect(await dialog(page).getByText('Silences alerts with rule').textContent()).toContain(
    `with rule ${shown} from \u206810.1.0.1\u2069, up to severity`,
  );
  expect(await dialog(page).getByRole('heading').first().textContent()).toBe(`Silence alerts similar to “${shown}”`);
  await press(page, 'Escape');
  await expect.poll(() => dialog(page).count(), soon).toBe(0);
  await settled(page);
  await press(page, 'a');
  await page
    .locator('.toast')
    .filter({ hasText: `“${shown}”: assigned to` })
    .waitFor();
});

test('a notice with a long title stays small and can be dismissed', async () => {
  const page = await queue('/alerts?q=Long', { width: phone });
  await press(page, 'j', 'a');
  const toast = page.locator('.toast');
  await toast.getByText('assigned to').waitFor();
  const box = await toast.boundingBox();
  expect(box?.height).toBeLessThan(200);
  expect((box?.x ?? 0) + (box?.width ?? phone)).toBeLessThanOrEqual(phone);
  await toast.getByRole('button', { name: 'Dismiss' }).click({ timeout: 3000 });
  await expect.poll(() => toast.count(), { timeout: 1000 }).toBe(0);
});

test('a long asset name takes two lines in the detail of an alert, and is complete in its tooltip', async () => {
  const page = await queue('/alerts?q=Of+a+long+name', { width: phone });
  await press(page, 'j', 'Enter');
  const name = page.getByRole('region', { name: 'Detail' }).locator('.asset-name').first();
  await name.getByText('host-').waitFor();
  expect((await name.boundingBox())?.height).toBeLessThan(60);
  expect(await name.locator('bdi').getAttribute('title')).toBe(longName);
});

test.each([1280, phone])('a long asset name fits the merge dialog in a window %d px wide', async (width) => {
  const page = await open.page({ path: '/assets?q=host-yyy', width });
  await page.getByRole('row').nth(1).waitFor();
  await page
    .getByRole('row')
    .nth(1)
    .click({ position: { x: 3, y: 3 } });
  const detail = page.getByRole('region', { name: 'Detail' });
  await detail.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Merge into another asset' }).click();
  await dialog(page).getByText('Use this if both assets are the same machine.').waitFor();
  const wider = await dialog(page).evaluate((shown) => shown.scrollWidth - shown.clientWidth);
  expect(wider).toBeLessThanOrEqual(0);
  expect(await overflow(page)).toBe(0);
});
