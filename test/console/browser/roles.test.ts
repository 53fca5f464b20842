/**
 * Views for each role, and changes of the access policy: pages, proofs and the status line do not present missing
 * permissions as errors, removed permissions disappear, and concurrent edits are all kept.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { login, type Service, tokenFor } from '../../../scripts/service.ts';
import type { AccessRule } from '../../../src/contract/resources/policy.ts';
import { forRoles, withRules } from '../../identities/policy-parts.ts';
import { call, list, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';
import { suricataAlert } from './suricata-alert.ts';

/** Timeout for steps that can take long on a busy machine. */
const soon = { timeout: 60_000 };
const password = 'a role and no more';
let open: Opened;
let admin: string;
beforeAll(async () => {
  open = await openConsole({
    data: async (service) => {
      admin = await login(service);
      for (const [name, role] of [
        ['vera', 'viewer'],
        ['otto', 'auditor'],
        ['ann', 'analyst'],
      ]) {
        const json = { name, kind: 'user', roles: [role], password };
        expect((await call(service, 'createPrincipal', { token: admin, json })).status).toBe(201);
      }
      const alerts = [suricataAlert(9_000_003, 'Grave one', 1), suricataAlert(9_000_004, 'Other one', 2)];
      await send(service, await tokenFor(service, 'sensor'), alerts.join('\n'));
      await vi.waitFor(() => logged(service), { timeout: 60_000, interval: 200 });
    },
  });
});
afterAll(() => open.close());

const grave = async (service: Service) => (await list(service, 'listAlerts', admin, 'q=Grave')).data[0];

async function logged(service: Service): Promise<void> {
  expect((await grave(service))?.attributes.transparency).toBeDefined();
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
  const atOnce = { timeout: 2000 };
  await status(page).getByText(/Live$/).waitFor();
  await status(page).getByText('✓').waitFor();
  const problems = open.problems.length;
  await page.context().setOffline(true);
  await status(page)
    .getByText(/Offline/)
    .waitFor(atOnce);
  await status(page)
    .getByText(/not checked/)
    .waitFor(atOnce);
  await page.context().setOffline(false);
  await status(page).getByText(/Live$/).waitFor(atOnce);
  await status(page).getByText('✓').waitFor(atOnce);
  // The browser reports failed connections, which are expected here.
  open.problems.length = problems;
});

const dialog = (page: Page) => page.getByRole('dialog');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const policyPage = (search: string) => open.page({ path: `/administration?view=policy&q=${search}` });

async function edit(page: Page, ...boxes: string[]): Promise<void> {
  await button(page, 'Edit').click(soon);
  for (const name of boxes) await page.getByRole('checkbox', { name, exact: true }).click(soon);
}
async function save(page: Page): Promise<void> {
  await button(page, 'Review and save').click(soon);
  await dialog(page).getByRole('button', { name: 'Save policy' }).click(soon);
}
async function rules(): Promise<AccessRule[]> {
  const { body } = await call(open.service, 'getPolicy', { token: admin });
  return (body as { data: { attributes: { rules: AccessRule[] } } }).data.attributes.rules;
}
const rolesOf = async (operation: string) => (await rules()).find((rule) => rule.operation === operation)?.roles;
const store = async (...changed: AccessRule[]) => {
  const json = { rules: withRules(await rules(), ...changed) };
  expect((await call(open.service, 'updatePolicy', { token: admin, json })).status).toBe(200);
};

/** Opens the alert as an analyst. */
async function openAlert(): Promise<{ page: Page; alert: string }> {
  const { id: alert } = (await grave(open.service))!;
  const page = await openAs('ann', `/alerts?view=all&id=${alert}`);
  await page.getByRole('region', { name: 'Detail' }).waitFor(soon);
  return { page, alert };
}
const tokenOf = (page: Page) =>
  page.evaluate(() => (JSON.parse(localStorage.getItem('candor.session') ?? '{}') as { access: string }).access);

test('the console reports that an operation removed from analysts is refused, and then hides it', async () => {
  const { page: hers, alert } = await openAlert();
  await hers.getByRole('button', { name: /^Assign to me/ }).waitFor(soon);
  const page = await policyPage('updateAlert');
  await edit(page, 'updateAlert: analyst', 'bulkUpdateAlerts: analyst');
  await save(page);
  await page.getByText('Policy saved.').waitFor(soon);

  const json = { priority: 'high' };
  const token = await tokenOf(hers);
  expect((await call(open.service, 'updateAlert', { token, params: [alert], json })).status).toBe(403);
  // The user's page is outdated: the refusal makes it fetch the permissions again.
  await hers.getByRole('button', { name: /^Assign to me/ }).click(soon);
  await hers.getByText(/these credentials have analyst, but need one of admin/).waitFor(soon);
  await hers.getByRole('button', { name: /^Assign to me/ }).waitFor({ state: 'detached', ...soon });

  await hers.reload();
  await settled(hers);
  const detail = hers.getByRole('region', { name: 'Detail' });
  await detail.getByRole('button', { name: 'Silence' }).waitFor(soon);
  const offered = await detail.getByRole('button').allInnerTexts();
  for (const gone of ['Assign to me', 'Resolve', 'Add note', 'Set verdict', 'Note'])
    expect(offered.filter((text) => text.startsWith(gone))).toEqual([]);
  await hers.keyboard.press('r');
  await hers.keyboard.press('n');
  await settled(hers);
  expect(await dialog(hers).count()).toBe(0);
  // The user may still create a silence, but not suppress the alert with it.
  await hers.keyboard.press('s');
  await dialog(hers).getByLabel('Reason').waitFor(soon);
  expect(
    await dialog(hers)
      .getByRole('checkbox', { name: /^Suppress/ })
      .count(),
  ).toBe(0);
  expect(await violations(hers)).toEqual([]);

  await store(forRoles('updateAlert', 'analyst', 'admin'));
  await hers.reload();
  await hers.getByRole('button', { name: /^Resolve/ }).waitFor(soon);
});

test('the console hides bulk actions if the user may change single alerts only', async () => {
  await store(
    forRoles('updateAlert', 'analyst', 'admin'),
    forRoles('bulkUpdateAlerts', 'admin'),
    forRoles('createSilence', 'admin'),
  );
  const { page: hers } = await openAlert();
  const boxes = hers.getByRole('grid', { name: 'Alerts' }).getByRole('checkbox');
  const bar = hers.getByRole('toolbar', { name: 'Bulk actions' });
  await boxes.nth(1).click(soon);
  await bar.getByRole('button', { name: /^Resolve/ }).waitFor(soon);
  await boxes.nth(2).click(soon);
  await bar.getByText('2 selected').waitFor(soon);
  expect(await bar.getByRole('button').allInnerTexts()).toEqual([expect.stringMatching(/^Clear selection/)]);
  await hers.keyboard.press('s');
  await hers.keyboard.press('r');
  await settled(hers);
  expect(await dialog(hers).count()).toBe(0);
});

test('the console applies lost permissions immediately, and in other tabs on renewal', async () => {
  const page = await policyPage('reloadRules');
  const tab = await page.context().newPage();
  await tab.goto('/administration?view=rules');
  await button(tab, 'Reload').waitFor(soon);
  await edit(page, 'reloadRules: admin');
  await save(page);
  await page.getByText('Policy saved.').waitFor(soon);
  await page.getByRole('link', { name: 'Rules', exact: true }).click();
  await button(page, 'New rule').waitFor(soon);
  await settled(page);
  expect(await button(page, 'Reload').count()).toBe(0);
  await page.evaluate(() => {
    const kept = JSON.parse(localStorage.getItem('candor.session') ?? '{}') as { expiresAt: number };
    localStorage.setItem('candor.session', JSON.stringify({ ...kept, expiresAt: kept.expiresAt + 1000 }));
  });
  await button(tab, 'Reload').waitFor({ state: 'detached', ...soon });
});

test('the console keeps both edits when two administrators change the policy', async () => {
  const [first, second] = [await policyPage('Scan'), await policyPage('Scan')];
  await edit(second, 'startScan: analyst', 'listScans: auditor');
  await edit(first, 'cancelScan: analyst');
  await save(first);
  await first.getByText('Policy saved.').waitFor(soon);

  await save(second);
  await dialog(second).getByRole('alert').filter({ hasText: 'Someone else changed this' }).waitFor(soon);
  expect(await rolesOf('startScan')).toContain('analyst');
  await dialog(second).getByRole('button', { name: 'Cancel' }).click();
  const told = second.getByRole('alert').filter({ hasText: 'Someone else changed the policy while you were editing' });
  await told.getByText('cancelScan', { exact: true }).waitFor(soon);
  // The second administrator's edits are kept, but have not overwritten the first administrator's edit.
  expect(await second.getByRole('checkbox', { name: 'startScan: analyst' }).isChecked()).toBe(false);
  expect(await second.getByRole('checkbox', { name: 'cancelScan: analyst' }).isChecked()).toBe(true);
  expect(await violations(second)).toEqual([]);
  await button(second, 'Reapply my changes').click();
  await second.getByText('2 changes', { exact: true }).waitFor(soon);
  expect(await second.getByRole('checkbox', { name: 'cancelScan: analyst' }).isChecked()).toBe(false);
  await button(second, 'Review and save').click(soon);
  const diff = dialog(second).getByRole('list', { name: 'Changes' }).getByRole('listitem');
  expect((await diff.allInnerTexts()).map((text) => text.split('\n')[0]).sort()).toEqual(['listScans', 'startScan']);
  await dialog(second).getByRole('button', { name: 'Save policy' }).click();
  await second.getByText('Policy saved.').waitFor(soon);

  expect(await rolesOf('startScan')).toEqual(['admin']);
  expect(await rolesOf('listScans')).toEqual(expect.arrayContaining(['viewer', 'analyst', 'admin', 'auditor']));
  expect(await rolesOf('cancelScan')).toEqual(['admin']);
});
