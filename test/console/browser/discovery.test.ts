/** Scans: planned, rejected with a reason, started, watched, cancelled, and their results. */
import { createServer, type Server } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login } from '../../../scripts/service.ts';
import { call, list } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, staysAt, violations } from './console.ts';

let open: Opened;
let admin: string;
let listener: Server;
let port: number;

beforeAll(async () => {
  open = await openConsole();
  admin = await login(open.service);
  // A service for the scans to find: it sends a mail server's greeting.
  listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('220 mail.example ESMTP Postfix\r\n');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  port = address.port;
});
afterAll(async () => {
  await open.close();
  listener.close();
});

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Scan a network' });
const detail = (page: Page) => page.getByRole('region', { name: 'Detail' });
const rows = (page: Page) => page.getByRole('grid', { name: 'Scans' }).getByRole('row');

async function discovery(path = '/discovery', width?: number): Promise<Page> {
  const page = await open.page({ path, ...(width !== undefined && { width }) });
  await settled(page);
  return page;
}

test('the console plans and runs a scan of loopback, shows the host and port that it found, and links to the asset', async () => {
  const page = await discovery();
  await page.getByText('No scans yet').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('n');
  const form = dialog(page);
  await form.getByLabel('Targets').fill('127.0.0.1');
  await form.getByLabel('Ports').fill(`${port},1-3`);
  await form.getByText('4 probes').waitFor();
  await form.getByText('4 ports on one address').waitFor();
  expect(await violations(page)).toEqual([]);
  await form.getByRole('button', { name: 'Start scan' }).click();
  await form.waitFor({ state: 'detached' });

  const current = page.getByRole('region', { name: 'Last scan' });
  await current.getByText('Completed').waitFor();
  await current.getByText('4 of 4').waitFor();
  await rows(page).filter({ hasText: 'Completed' }).first().click();
  const id = new URL(page.url()).searchParams.get('id');
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const found = detail(page)
    .getByRole('row')
    .filter({ hasText: `${port}/tcp` });
  await found.waitFor();
  expect(await found.textContent()).toMatch(/smtp/);
  await settled(page);
  expect(await violations(page)).toEqual([]);

  await detail(page).getByRole('link', { name: 'Assets at these addresses' }).click();
  await page.waitForURL(/\/assets\?ip=127\.0\.0\.1&id=/);
  await detail(page).getByText('scan', { exact: true }).waitFor();
  await detail(page).getByRole('link', { name: 'Scan', exact: true }).first().click();
  await page.waitForURL(/\/discovery\?id=/);
  await found.waitFor();
  await staysAt(page, `/discovery?id=${id}`);
});

test('the console rejects a forbidden target with the reason, and keeps the input', async () => {
  const page = await discovery('/discovery?new=1&targets=127.0.0.1,10.0.0.0/24&ports=22&rate=50');
  const form = dialog(page);
  await form.getByText('255 probes').waitFor();
  await form.getByRole('button', { name: 'Start scan' }).click();
  await form.getByText('10.0.0.0/24 is outside the allowed networks').waitFor();
  await form.getByText('discovery.allowed_networks').waitFor();
  expect(await form.getByLabel('Targets').inputValue()).toBe('127.0.0.1\n10.0.0.0/24');
  expect(await form.getByLabel('Maximum probes per second').inputValue()).toBe('50');
  expect(await violations(page)).toEqual([]);
  await form.getByLabel('Ports').fill('80-22');
  await form.getByText('contains 80-22; expected the lower port first').waitFor();
  expect(await form.getByRole('button', { name: 'Start scan' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  await page.waitForURL((url) => url.search === '');
});

test('the console shows the progress of a scan, on a second page too, and cancels it', async () => {
  const other = await discovery();
  const page = await discovery('/discovery?new=1&targets=127.0.0.0/24&ports=1-1000&rate=200');
  await dialog(page).getByRole('button', { name: 'Start scan' }).click();
  const running = (on: Page) => on.getByRole('region', { name: 'Running scan' });
  await running(page).getByText('Running').waitFor();
  const probes = running(other).getByRole('progressbar', { name: 'Probes' });
  await probes.waitFor();
  const value = async () => Number(await probes.evaluate((bar: HTMLProgressElement) => bar.value));
  await expect.poll(value).toBeGreaterThan(20);
  const before = await value();
  await expect.poll(value).toBeGreaterThan(before);
  await expect.poll(() => running(other).textContent()).toMatch(/Rate [\d.]+\/s of max 200\/s/);
  await running(other)
    .getByText(/about .* s/)
    .waitFor();
  expect(await violations(other)).toEqual([]);
  // A scan started elsewhere is announced, but rows do not move until the user loads it.
  await other.getByRole('button', { name: '1 new' }).waitFor();
  await other.keyboard.press('.');
  await rows(other).filter({ hasText: 'Running' }).waitFor();

  await running(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Scan cancelled. Results so far are kept.').waitFor();
  await rows(other).filter({ hasText: 'Cancelled' }).waitFor();
});

test('the console repeats a scan with the same values, by key', async () => {
  await call(open.service, 'startScan', {
    token: admin,
    json: { targets: ['127.0.0.1'], ports: `${port}`, rate: 77 },
  });
  const page = await discovery();
  await rows(page)
    .filter({ hasText: `${port}` })
    .first()
    .waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('r');
  const form = dialog(page);
  expect(await form.getByLabel('Targets').inputValue()).toBe('127.0.0.1');
  expect(await form.getByLabel('Ports').inputValue()).toBe(String(port));
  expect(await form.getByLabel('Maximum probes per second').inputValue()).toBe('77');
  await form.getByRole('button', { name: 'Start scan' }).click();
  await expect
    .poll(() =>
      rows(page)
        .filter({ hasText: `${port}` })
        .filter({ hasText: 'Completed' })
        .count(),
    )
    .toBe(2);
  // The asset is the same; the service is listed once.
  const services = await list(open.service, 'listServices', admin, `port=${port}`);
  expect(services.pagination.total).toBe(1);
});

test('on a phone a scan is readable, and an unknown scan is reported', async () => {
  const page = await discovery('/discovery', phone);
  expect(await overflow(page)).toBe(0);
  await rows(page).nth(1).click();
  await detail(page).waitFor();
  await settled(page);
  expect(await overflow(page)).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.goto('/discovery?id=01a20223-84f0-797a-b020-ed2b57cb7cf5');
  await detail(page).getByRole('heading', { name: 'Scan not found' }).waitFor();
});
