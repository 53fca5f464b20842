/** Views for each role: pages, proofs and the status line do not present missing permissions as errors. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { login, type Service, tokenFor } from '../../../scripts/service.ts';
import { call, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';
import { suricataAlert } from './suricata-alert.ts';

const password = 'a role and no more';
let open: Opened;
beforeAll(async () => {
  open = await openConsole({
    data: async (service) => {
      const token = await login(service);
      for (const [name, kind, role] of [
        ['vera', 'user', 'viewer'],
        ['otto', 'user', 'auditor'],
      ]) {
        const json = { name, kind, roles: [role], password };
        expect((await call(service, 'createPrincipal', { token, json })).status).toBe(201);
      }
      const alert = suricataAlert(9_000_003, 'Grave one', 1);
      await send(service, await tokenFor(service, 'sensor'), alert);
      await vi.waitFor(() => logged(service, token), { timeout: 60_000, interval: 200 });
    },
  });
});
afterAll(() => open.close());

async function logged(service: Service, token: string): Promise<void> {
  const { body } = await call(service, 'listAlerts', { token });
  const { data } = body as { data: readonly { attributes: { transparency?: object } }[] };
  expect(data[0]?.attributes.transparency).toBeDefined();
}

async function openAs(name: string, path: string, width = 1280): Promise<Page> {
  const page = await open.page({ signedOut: true, path, width });
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  return page;
}

const status = (page: Page) => page.getByRole('contentinfo', { name: 'Status' });

test('the console shows a viewer public proofs, and explains which contents need a role', async () => {
  const page = await openAs('vera', '/alerts?q=Grave');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.getByText('Grave one').first().waitFor();
  for (const key of ['j', 'p']) await page.keyboard.press(key);
  await page.getByText('The entry is in the log').waitFor();
  await page.getByText('Your role cannot read the contents of the entry').waitFor();
  expect(await page.getByText('Not proven').count()).toBe(0);
  expect(asked).not.toContain('/api/transparency/leaf');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: 'Show the proof' }).click();
  await page.waitForURL(/\/transparency\?view=proof&index=\d+/);
  const index = new URL(page.url()).searchParams.get('index');
  await page.getByRole('heading', { name: `Entry ${index}`, exact: true }).waitFor();
  await page.getByText('Verified in your browser, not by the server').waitFor();
});

test('the console warns a viewer about a hash that is not in the log', async () => {
  const page = await openAs('vera', '/overview');
  await settled(page);
  await page.route('**/api/v1/alerts*', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace(
      /("leaf_hash":")(.)/,
      (_, before: string, digit: string) => before + (digit === '0' ? '1' : '0'),
    );
    await route.fulfill({ response: answer, body });
  });
  await page.goto('/alerts?q=Grave');
  await page.getByText('Grave one').first().waitFor();
  for (const key of ['j', 'p']) await page.keyboard.press(key);
  await page.getByText('Not proven.').waitFor();
  await page.getByText('NOT_INCLUDED', { exact: true }).waitFor();
});

test.each([1280, phone])(
  'the console of an auditor opens a permitted page, and does not show Offline: %i px',
  async (width) => {
    const page = await openAs('otto', '/', width);
    await page.getByRole('heading', { name: 'Transparency', level: 1 }).waitFor();
    const sockets: string[] = [];
    page.on('websocket', (socket) => sockets.push(socket.url()));
    await status(page).getByText('No live data for your role').waitFor();
    await page.goto('/alerts');
    await page.getByText('Alerts is not available to your role').waitFor();
    await status(page).getByText('No live data for your role').waitFor();
    expect(await status(page).getByText('Offline').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.getByRole('main').getByRole('link', { name: 'Transparency' }).click();
    await page.getByRole('heading', { name: 'Transparency', level: 1 }).waitFor();
    expect(sockets).toEqual([]);
  },
);

test('the console reports a lost network immediately, and its return', async () => {
  const page = await openAs('vera', '/overview');
  const soon = { timeout: 2000 };
  await status(page).getByText(/Live$/).waitFor();
  await status(page).getByText('✓').waitFor();
  const problems = open.problems.length;
  await page.context().setOffline(true);
  await status(page)
    .getByText(/Offline/)
    .waitFor(soon);
  await status(page)
    .getByText(/not checked/)
    .waitFor(soon);
  await page.context().setOffline(false);
  await status(page).getByText(/Live$/).waitFor(soon);
  await status(page).getByText('✓').waitFor(soon);
  // The browser reports failed connections, which are expected here.
  open.problems.length = problems;
});
