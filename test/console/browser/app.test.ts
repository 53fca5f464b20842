/** The frame around the pages: signing in and out, the keys, the palette, what is live, and what a browser keeps. */
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
  await page.getByLabel('Name').fill('admin');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const account = (page: Page) => page.getByRole('button', { name: /account and appearance/ });
const status = (page: Page) => page.getByRole('contentinfo', { name: 'Status' });

describe.each([1280, phone])('%i pixels wide', (width) => {
  test('who signs in is where the link led; who signs out is out in every tab', async () => {
    const page = await open.page({ signedOut: true, width, path: '/alerts?severity=medium' });
    await signIn(page, 'not it');
    await page.getByText('Name or password is wrong.').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
    await staysAt(page, '/alerts?severity=medium');
    const other = await page.context().newPage();
    await other.goto('/status');
    await other.getByText('Everything is as it should be.').waitFor();
    expect(await overflow(page)).toBe(0);
    await account(page).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Password').waitFor();
    await other.getByLabel('Password').waitFor();
    expect(await page.evaluate(() => localStorage.getItem('candor.session'))).toBe(null);
  });
});

test('a session that was ended elsewhere says so, and goes on where it was', async () => {
  const page = await open.page({ path: '/assets' });
  await settled(page);
  const token = await page.evaluate(
    () => (JSON.parse(localStorage.getItem('candor.session') ?? '{}') as { access: string }).access,
  );
  expect((await call(open.service, 'logout', { token })).status).toBe(204);
  await page.getByText('The session is over.').waitFor({ timeout: 30_000 });
  await signIn(page);
  await page.getByRole('heading', { name: 'Assets', level: 1 }).waitFor();
  await staysAt(page, '/assets');
});

test('a token that is about to end is renewed, once for all tabs', async () => {
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
  await page.getByText('Everything is as it should be.').waitFor();
  await other.getByRole('grid', { name: 'Alerts' }).waitFor();
  expect(renewals).toHaveLength(1);
});

test('keys lead to every page, and say what they do', async () => {
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
  const help = page.getByRole('dialog', { name: 'What keys do' });
  await help.getByText('Go to Alerts').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
});

test('the palette finds a page, an address and an alert', async () => {
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

test('the status line tells what is live and what this browser verified, and when it no longer is', async () => {
  const page = await open.page();
  await status(page).getByText(/live$/).waitFor();
  await status(page).getByText('✓').waitFor();
  const problems = open.problems.length;
  await page.context().setOffline(true);
  await status(page)
    .getByText(/behind|offline/)
    .waitFor({ timeout: 40_000 });
  await status(page)
    .getByText(/not checked/)
    .waitFor({ timeout: 40_000 });
  await page.context().setOffline(false);
  await status(page).getByText(/live$/).waitFor({ timeout: 40_000 });
  // The browser tells of connections that could not be made: those were meant to fail.
  open.problems.length = problems;
});

test('theme and zone are kept', async () => {
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

test('on a phone each page has its name under its sign', async () => {
  const page = await open.page({ path: '/status', width: phone });
  await settled(page);
  for (const name of await page.getByRole('navigation', { name: 'Pages' }).locator('li .rail-title').all())
    expect((await name.boundingBox())?.width).toBeGreaterThan(10);
});

test('a viewer is shown what a viewer may', async () => {
  const token = await login(open.service);
  const viewer = { name: 'vera', kind: 'user', roles: ['viewer'], password: 'a viewer of things' };
  expect((await call(open.service, 'createPrincipal', { token, json: viewer })).status).toBe(201);
  const page = await open.page({ signedOut: true });
  await page.getByLabel('Name').fill('vera');
  await page.getByLabel('Password').fill(viewer.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await staysAt(page, '/overview');
  await page.getByRole('link', { name: 'Alerts', exact: true }).click();
  await page.getByText('A thing to be found').waitFor();
});

test('a sequence of keys means what it means everywhere, whatever its last key does on the page', async () => {
  const page = await open.page({ path: '/alerts' });
  await settled(page);
  await page.keyboard.press('j');
  for (const key of 'gs') await page.keyboard.press(key);
  await page.getByRole('heading', { name: 'Assets', level: 1 }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('the link that skips to the page goes there', async () => {
  const page = await open.page();
  await settled(page);
  await page.keyboard.press('Tab');
  await page.getByRole('link', { name: 'Skip to the page' }).press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
});

test.each(['//evil.example/x', 'https://evil.example/', '/sign-in', '/nowhere', 'javascript:alert(1)'])(
  'signing in leads to no place but a page of the console: %s',
  async (to) => {
    const page = await open.page({ path: `/sign-in?to=${encodeURIComponent(to)}` });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await staysAt(page, '/overview');
    expect(new URL(page.url()).origin).toBe(new URL(open.service.url).origin);
  },
);

test('who came from the log is there again after signing in', async () => {
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
  ['members that are missing', '{"refreshExpiresAt":9999999999999}', '{"theme":7}'],
])('what others left in the storage of the browser stops nothing: %s', async (_, session, preferences) => {
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

test.each(['from=-271821-04-20T00:00:00.000Z', 'from=nonsense&to=9', 'range=constructor'])(
  'a time that is none is as if it were not there: %s',
  async (query) => {
    for (const path of ['alerts', 'events', 'assets', 'topology', 'overview']) {
      const page = await open.page({ path: `/${path}?${query}` });
      await settled(page);
      expect(await page.getByRole('alert').count()).toBe(0);
      await page.context().close();
    }
  },
);

test('the overview shows the window that it says, whatever time came along', async () => {
  const page = await open.page({
    path: '/overview?from=2026-01-01T00:00:00.000Z&to=2026-01-02T00:00:00.000Z',
  });
  await settled(page);
  await page.getByRole('button', { name: 'Time: Last 24 hours' }).waitFor();
  // The list begins where the window does, to the hour.
  await page.getByRole('link', { name: /^\d+ new$/ }).click();
  await page.waitForURL(/\/alerts\?/);
  const from = Date.parse(new URL(page.url()).searchParams.get('from') ?? '');
  expect(Date.now() - from).toBeGreaterThan(23 * 3_600_000);
  expect(Date.now() - from).toBeLessThan(26 * 3_600_000);
});

test('a limit that was reached is told where the service is said to be well, which it still is', async () => {
  const token = await login(open.service);
  const json = { reason: 'x'.repeat(300_000) };
  for (let n = 0; n < 2; n++)
    expect((await call(open.service, 'createSilence', { token, json })).status).toBe(413);
  const page = await open.page({ path: '/status' });
  const verdict = page.getByRole('region', { name: 'In short' });
  await verdict.getByText('✓ Everything is as it should be.').waitFor();
  await verdict.getByText('Since the start one limit was reached: maxJsonBodyBytes twice.').waitFor();
  await status(page).getByRole('link', { name: '1 limit reached' }).waitFor();
  expect(await status(page).locator('.status-warning').count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: phone, height: 800 });
  expect(await overflow(page)).toBe(0);
});
