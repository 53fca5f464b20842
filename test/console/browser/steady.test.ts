/** Behaviour while the service is unreachable, lists behind counts, and time zones. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, tokenFor } from '../../../scripts/service.ts';
import { call, listAll, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

const soon = { timeout: 60_000 };
const sent = 3;
let open: Opened;

const raised = (n: number) =>
  JSON.stringify({
    timestamp: new Date().toISOString().replace('Z', '+0000'),
    flow_id: 1_000_000 + n,
    event_type: 'alert',
    src_ip: `10.1.0.${n}`,
    src_port: 40_000 + n,
    dest_ip: '198.51.100.7',
    dest_port: 443,
    proto: 'TCP',
    alert: { action: 'allowed', gid: 1, signature_id: n, rev: 1, signature: `Test rule ${n}`, severity: 3 },
  });

beforeAll(async () => {
  open = await openConsole();
  const lines = Array.from({ length: sent }, (_, n) => raised(n + 1));
  await send(open.service, await tokenFor(open.service, 'sensor'), lines.join('\n'));
  const token = await login(open.service);
  const [first] = await listAll(open.service, 'listAlerts', token);
  const resolved = await call(open.service, 'updateAlert', {
    token,
    params: [first!.id],
    json: { status: 'resolved', verdict: 'false_positive' },
  });
  expect(resolved.status).toBe(200);
});
afterAll(() => open.close());

/** Runs a step offline. Connection errors are expected during the step. */
async function away(page: Page, what: () => Promise<void>): Promise<void> {
  const known = open.problems.length;
  await page.context().setOffline(true);
  await what();
  await page.context().setOffline(false);
  open.problems.length = known;
}

test('each alert count on the overview links to a list of that many alerts', async () => {
  const page = await open.page();
  const panel = page.getByRole('region', { name: 'Alerts in this range', exact: true });
  await panel.getByRole('link', { name: String(sent), exact: true }).click();
  await page.waitForURL(/\/alerts\?.*view=all/);
  await page.locator('[aria-current=page]', { hasText: `All ${sent}` }).waitFor(soon);
  await page.goBack();
  await panel.getByRole('link', { name: '1 resolved' }).click();
  await page.waitForURL(/\/alerts\?.*status=resolved/);
  await page.locator('[aria-current=page]', { hasText: 'All 1' }).waitFor(soon);
});

test('the console keeps histogram and counts while the service is unreachable', async () => {
  const page = await open.page();
  await page.clock.install();
  await page.goto('/alerts?view=all');
  const chart = page.getByRole('img', { name: new RegExp(`^${sent} alerts over time`) });
  const counted = page.getByRole('button', { name: `Open ${sent - 1}` });
  const old = page.getByText('Out of date; retrying');
  await chart.waitFor(soon);
  await counted.waitFor(soon);
  await away(page, async () => {
    await page.clock.fastForward(40_000);
    await old.waitFor(soon);
    expect(await chart.count()).toBe(1);
    expect(await counted.count()).toBe(1);
    // The request changes every 30 s, and each new request fails.
    await page.clock.fastForward(40_000);
    await page.waitForTimeout(5000);
    expect(await chart.count()).toBe(1);
    expect(await counted.count()).toBe(1);
  });
  await old.waitFor({ state: 'detached', ...soon });
  await chart.waitFor(soon);
});

test('the console loads a failed page when the network is back', async () => {
  const page = await open.page();
  await settled(page);
  const unloaded = page.getByText('Could not load this page.');
  const rail = page.getByRole('navigation', { name: 'Pages' });
  await away(page, async () => {
    await rail.getByRole('link', { name: 'Health' }).click();
    await unloaded.waitFor(soon);
  });
  await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor(soon);
  const unstyled = () => [...document.styleSheets].length < document.querySelectorAll('link[rel=stylesheet]').length;
  expect(await page.evaluate(unstyled)).toBe(false);
});

test('the console loads a page after another page was left while its style sheets were loading', async () => {
  const page = await open.page();
  await settled(page);
  const rail = page.getByRole('navigation', { name: 'Pages' });
  const released = Promise.withResolvers<void>();
  await page.route(/console\/.*\.css/, async (route) => {
    await released.promise;
    await route.continue();
  });
  const requested = page.waitForRequest(/console\/.*\.css/);
  await rail.getByRole('link', { name: 'Docs' }).click();
  await requested;
  await page.goBack();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor(soon);
  released.resolve();
  await rail.getByRole('link', { name: 'Administration' }).click();
  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByRole('button', { name: 'Issue token' }).waitFor(soon);
});

test('the console offers to reload itself if loading a page fails twice', async () => {
  const page = await open.page();
  await settled(page);
  const known = open.problems.length;
  await page.route(/console\/.*\.(js|css)/, (route) => route.abort());
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Discovery' }).click();
  await page.getByText('Could not load this page.').waitFor(soon);
  const reload = page.getByRole('button', { name: 'Reload console' });
  expect(await reload.count()).toBe(0);
  await page.getByRole('button', { name: 'Retry' }).click();
  await reload.waitFor(soon);
  expect(await violations(page)).toEqual([]);
  await page.unroute(/console\/.*\.(js|css)/);
  await reload.click();
  await page.getByRole('heading', { name: 'Discovery', level: 1 }).waitFor(soon);
  open.problems.length = known;
});

test.each([1280, phone])('the console shows and switches the time zone at %i pixels', async (width) => {
  const page = await open.page({ width });
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'America/Phoenix' });
  await page.goto('/alerts');
  await settled(page);
  const at = page.locator('.alert-queue time').first();
  await at.waitFor(soon);
  expect(await at.getAttribute('title')).toContain('UTC−07:00');
  expect(await overflow(page)).toBe(0);
  await page.getByRole('button', { name: 'Time zone: UTC−7' }).click();
  await page.getByRole('button', { name: 'Time zone: UTC', exact: true }).waitFor();
  expect(await at.getAttribute('title')).toMatch(/ UTC$/);
  expect(await violations(page)).toEqual([]);
});

test('the console interprets entered times with the UTC offset of their date', async () => {
  const page = await open.page();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' });
  await page.goto('/alerts');
  await page.getByRole('button', { name: /^Time: / }).click();
  await page.getByRole('menuitem', { name: 'Custom range' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('From').fill('2026-07-01 12:00:00');
  await dialog.getByLabel('Until').fill('2026-12-01 12:00:00');
  await dialog.getByText('Time zone: UTC−04:00').waitFor();
  await dialog.getByText('Time zone: UTC−05:00').waitFor();
});
