/** The frame around the pages: signing in and out, the keys, the palette, what is live, and what a browser keeps. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, login, tokenFor } from '../../../scripts/service.ts';
import { call, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

let open: Opened;
beforeAll(async () => {
  open = await openConsole({
    data: async (service) => {
      const alert = {
        timestamp: new Date().toISOString(),
        event_type: 'alert',
        src_ip: '10.3.2.1',
        src_port: 1,
        dest_ip: '10.3.2.2',
        dest_port: 80,
        proto: 'TCP',
        alert: {
          gid: 1,
          signature_id: 9_000_002,
          rev: 1,
          signature: 'A thing to be found',
          category: 'x',
          severity: 2,
        },
      };
      await send(service, await tokenFor(service, 'sensor'), JSON.stringify(alert));
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
    expect(page.url()).toContain('severity=medium');
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
    ['gi', 'API'],
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
  await page.keyboard.press('Control+k');
  await find.fill('to be found');
  await page.getByRole('option', { name: /A thing to be found/ }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/alerts\?.*id=/);
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

test('a viewer is shown what a viewer may', async () => {
  const token = await login(open.service);
  const viewer = { name: 'vera', kind: 'user', roles: ['viewer'], password: 'a viewer of things' };
  expect((await call(open.service, 'createPrincipal', { token, json: viewer })).status).toBe(201);
  const page = await open.page({ signedOut: true });
  await page.getByLabel('Name').fill('vera');
  await page.getByLabel('Password').fill(viewer.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await settled(page);
  await page.getByRole('link', { name: 'Alerts', exact: true }).click();
  await page.getByText('A thing to be found').waitFor();
});
