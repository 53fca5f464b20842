/** The app frame: signing in and out, keys, search palette, live status, and stored preferences. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, login, tokenFor } from '../../../scripts/service.ts';
import { call, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, staysAt, violations } from './console.ts';
import { suricataAlert } from './suricata-alert.ts';

let open: Opened;
beforeAll(async () => {
  open = await openConsole({
    data: async (service) => {
      const alert = suricataAlert(9_000_002, 'A thing to be found', 2);
      await send(service, await tokenFor(service, 'sensor'), alert);
    },
  });
});
afterAll(() => open.close());

async function signIn(page: Page, password = adminPassword): Promise<void> {
  await page.getByLabel('Username').fill('admin');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const account = (page: Page) => page.getByRole('button', { name: /account and appearance/ });
const status = (page: Page) => page.getByRole('contentinfo', { name: 'Status' });

describe.each([1280, phone])('the console %i pixels wide', (width) => {
  test('opens the linked page after sign-in, and signs out in every tab', async () => {
    const page = await open.page({ signedOut: true, width, path: '/alerts?severity=medium' });
    await signIn(page, 'not it');
    await page.getByText('Wrong username or password.').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
    await staysAt(page, '/alerts?severity=medium');
    const other = await page.context().newPage();
    await other.goto('/status');
    await other.getByText('Healthy.').waitFor();
    expect(await overflow(page)).toBe(0);
    await account(page).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    await other.getByLabel('Password').waitFor();
    expect(await page.evaluate(() => localStorage.getItem('candor.session'))).toBe(null);
  });
});

test('the console reports a session that was ended elsewhere, and returns to the page after sign-in', async () => {
  const page = await open.page({ path: '/assets' });
  await settled(page);
  const token = await page.evaluate(
    () => (JSON.parse(localStorage.getItem('candor.session') ?? '{}') as { access: string }).access,
  );
  expect((await call(open.service, 'logout', { token })).status).toBe(204);
  await page.getByText('Your session has expired.').waitFor({ timeout: 60_000 });
  await signIn(page);
  await page.getByRole('heading', { name: 'Assets', level: 1 }).waitFor();
  await staysAt(page, '/assets');
});

test('the console renews an expiring token once for all tabs', async () => {
  const page = await open.page({ path: '/status' });
  await settled(page);
  const renewals: string[] = [];
  const other = await page.context().newPage();
  for (const one of [page, other])
    one.on('request', (request) => {
      if (request.url().endsWith('/auth/refresh')) renewals.push(request.url());
    });
  await page.evaluate(() => {
    const kept = JSON.parse(localStorage.getItem('candor.session') ?? '{}') as { expiresAt: number };
    localStorage.setItem('candor.session', JSON.stringify({ ...kept, expiresAt: Date.now() + 1000 }));
  });
  await Promise.all([page.reload(), other.goto('/alerts')]);
  await settled(page);
  await settled(other);
  await page.getByText('Healthy.').waitFor();
  await other.getByRole('grid', { name: 'Alerts' }).waitFor();
  expect(renewals).toHaveLength(1);
});

test('the console opens every page by a key sequence, and lists the key sequences', async () => {
  const page = await open.page();
  await settled(page);
  for (const [keys, title] of [
    ['ga', 'Alerts'],
    ['ge', 'Events'],
    ['gs', 'Assets'],
    ['gt', 'Topology'],
    ['gd', 'Discovery'],
    ['gl', 'Transparency'],
    ['gm', 'Administration'],
    ['gh', 'Health'],
    ['gi', 'Docs'],
    ['go', 'Overview'],
  ] as const) {
    for (const key of keys) await page.keyboard.press(key);
    await page.getByRole('heading', { name: title, level: 1, exact: true }).waitFor();
  }
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await help.getByText('Go to Alerts').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
});

test('the console finds a page, an address and an alert in the search palette', async () => {
  const page = await open.page();
  await settled(page);
  const find = page.getByRole('combobox', { name: /Address, name, rule or page/ });
  await page.keyboard.press('Control+k');
  await find.fill('10.3.2.1');
  await page.getByRole('option', { name: /^alerts/ }).click();
  await page.waitForURL(/\/alerts\?.*ip=10\.3\.2\.1/);
  await page.getByRole('grid', { name: 'Alerts' }).getByText('A thing to be found').waitFor();
  await page.keyboard.press('Control+k');
  await find.fill('to be found');
  await page.getByRole('option', { name: /A thing to be found/ }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/alerts\?.*id=/);
  const detail = page.getByRole('region', { name: 'Detail' });
  await detail.getByRole('heading', { name: 'A thing to be found' }).waitFor();
});

test('the status line shows whether data is live and the log verified', async () => {
  const page = await open.page();
  await status(page).getByText(/Live$/).waitFor();
  await status(page).getByText('✓').waitFor();
  const problems = open.problems.length;
  await page.context().setOffline(true);
  await status(page)
    .getByText(/behind|Offline/)
    .waitFor({ timeout: 60_000 });
  await status(page)
    .getByText(/not checked/)
    .waitFor({ timeout: 60_000 });
  await page.context().setOffline(false);
  await status(page).getByText(/Live$/).waitFor({ timeout: 60_000 });
  // The browser reports failed connections, which are expected here.
  open.problems.length = problems;
});

test('the console keeps theme and time zone across reloads', async () => {
  const page = await open.page({ path: '/status' });
  await settled(page);
  await account(page).click();
  await page.getByRole('menuitem', { name: 'Light' }).click();
  await account(page).click();
  await page.getByRole('menuitem', { name: 'UTC' }).click();
  await page.reload();
  await settled(page);
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('light');
  await page.getByRole('button', { name: /admin · UTC/ }).waitFor();
});

test('the navigation shows page names on a phone', async () => {
  const page = await open.page({ path: '/status', width: phone });
  await settled(page);
  for (const name of await page.getByRole('navigation', { name: 'Pages' }).locator('li .rail-title').all())
    expect((await name.boundingBox())?.width).toBeGreaterThan(10);
});

test('a viewer starts on the overview and opens the alerts from the navigation', async () => {
  const token = await login(open.service);
  const viewer = { name: 'vera', kind: 'user', roles: ['viewer'], password: 'a viewer of things' };
  expect((await call(open.service, 'createPrincipal', { token, json: viewer })).status).toBe(201);
  const page = await open.page({ signedOut: true });
  await page.getByLabel('Username').fill('vera');
  await page.getByLabel('Password').fill(viewer.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await staysAt(page, '/overview');
  await page.getByRole('link', { name: 'Alerts', exact: true }).click();
  await page.getByText('A thing to be found').waitFor();
});

test("the console prefers a key sequence to the page's action for the last key of the sequence", async () => {
  const page = await open.page({ path: '/alerts' });
  await settled(page);
  await page.keyboard.press('j');
  for (const key of 'gs') await page.keyboard.press(key);
  await page.getByRole('heading', { name: 'Assets', level: 1 }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('the console moves the focus to the content with the skip link', async () => {
  const page = await open.page();
  await settled(page);
  await page.keyboard.press('Tab');
  await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
});

test.each(['//evil.example/x', 'https://evil.example/', '/sign-in', '/nowhere', 'javascript:alert(1)'])(
  'the sign-in page leads to the overview instead of to %s',
  async (to) => {
    const page = await open.page({ path: `/sign-in?to=${encodeURIComponent(to)}` });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await staysAt(page, '/overview');
    expect(new URL(page.url()).origin).toBe(new URL(open.service.url).origin);
  },
);

test('the console returns to the public log after signing in', async () => {
  const page = await open.page({
    signedOut: true,
    path: `/sign-in?to=${encodeURIComponent('/transparency?view=proof')}`,
  });
  await signIn(page);
  await page.getByRole('heading', { name: 'Transparency', level: 1 }).waitFor();
  await staysAt(page, '/transparency?view=proof');
});

test.each([
  ['null', 'null', 'null'],
  ['garbage', '{', '{'],
  ['missing members', '{"refreshExpiresAt":9999999999999}', '{"theme":7}'],
])('the console starts with malformed browser storage: %s', async (_, session, preferences) => {
  const page = await open.page({ signedOut: true });
  await page.evaluate(
    ([kept, taste]) => {
      localStorage.setItem('candor.session', kept ?? '');
      localStorage.setItem('candor.preferences', taste ?? '');
      localStorage.setItem('candor.pin', taste ?? '');
      localStorage.setItem('candor.pins', kept ?? '');
      localStorage.setItem('candor.evidence', taste ?? '');
    },
    [session, preferences],
  );
  await page.goto('/assets');
  await signIn(page);
  await page.getByRole('heading', { name: 'Assets', level: 1 }).waitFor();
  await staysAt(page, '/assets');
  await page.goto('/transparency');
  await page.getByRole('heading', { name: 'Transparency', level: 1 }).waitFor();
  await staysAt(page, '/transparency');
});

test.each([
  ['from=-271821-04-20T00:00:00.000Z', ['alerts', 'events', 'assets', 'topology', 'overview']],
  ['from=nonsense&to=9', ['events']],
  ['range=constructor', ['alerts']],
])('the console ignores an invalid time in the URL: %s', async (query, paths) => {
  for (const path of paths) {
    const page = await open.page({ path: `/${path}?${query}` });
    await settled(page);
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  }
});

test('the overview shows the last 24 hours if the URL has a custom time range', async () => {
  const page = await open.page({
    path: '/overview?from=2026-01-01T00:00:00.000Z&to=2026-01-02T00:00:00.000Z',
  });
  await settled(page);
  await page.getByRole('button', { name: 'Time: Last 24 hours' }).waitFor();
  // The list begins at the start of the window, rounded to the hour.
  await page.getByRole('link', { name: /^\d+ new$/ }).click();
  await page.waitForURL(/\/alerts\?/);
  const from = Date.parse(new URL(page.url()).searchParams.get('from') ?? '');
  expect(Date.now() - from).toBeGreaterThan(23 * 3_600_000);
  expect(Date.now() - from).toBeLessThan(26 * 3_600_000);
});

test('the console reports a reached limit without calling the service unhealthy', async () => {
  const token = await login(open.service);
  const json = { reason: 'x'.repeat(300_000) };
  for (let n = 0; n < 2; n++) expect((await call(open.service, 'createSilence', { token, json })).status).toBe(413);
  const page = await open.page({ path: '/status' });
  const verdict = page.getByRole('region', { name: 'Summary' });
  await verdict.getByText('✓ Healthy.').waitFor();
  await verdict.getByText('Since the start one limit was reached: maxJsonBodyBytes twice.').waitFor();
  await status(page).getByRole('link', { name: '1 limit reached' }).waitFor();
  expect(await status(page).locator('.status-warning').count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: phone, height: 800 });
  expect(await overflow(page)).toBe(0);
});

test('the health page proposes a home network setting for a public host in most connections', async () => {
  const lines = Array.from({ length: 3000 }, (_, n) =>
    JSON.stringify({
      ...{ _path: 'conn', ts: Date.now() / 1000, uid: `C${n}`, proto: 'tcp', conn_state: 'SF' },
      ...{ 'id.orig_h': `203.0.113.${n % 250}`, 'id.orig_p': 40_000 },
      ...{ 'id.resp_h': '198.51.100.7', 'id.resp_p': 443 },
    }),
  );
  await send(open.service, await tokenFor(open.service, 'sensor'), lines.join('\n'));
  const page = await open.page({ path: '/status' });
  const summary = page.getByRole('region', { name: 'Summary' });
  await summary
    .getByText(/^198\.51\.100\.7 takes part in .* set CANDOR_NETWORK_HOME=.*,198\.51\.100\.7\/32 /)
    .waitFor();
});
