/** Administration page: notices about log entries, secrets shown once, field errors, and access by role. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login } from '../../../scripts/service.ts';
import { views } from '../../../src/console/pages/administration/views.ts';
import { isolateText } from '../../../src/console/ui/words.ts';
import { call, type Item } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

/** Timeout for steps that can take long on a busy machine. */
const soon = { timeout: 60_000 };
const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
const recorded = 'This will be recorded in the public log';
const rule = (title: string) => `title: ${JSON.stringify(title)}
id: 7d1f0f3e-0d0a-4c57-9a8e-0a1b2c3d4e5f
status: experimental
logsource:
  category: firewall
detection:
  selection:
    dst_port: 4444
  condition: selection
level: medium
`;

let open: Opened;
let admin: string;
const listed = async (operation: 'listEntries' | 'listKeys', query: string): Promise<readonly Item[]> => {
  const { body } = await call(open.service, operation, { token: admin, query });
  return (body as { data: readonly Item[] }).data;
};
const dialog = (page: Page) => page.getByRole('dialog');
const detail = (page: Page) => page.getByRole('region', { name: 'Detail' });
const view = (name: string, more = '') => `/administration?view=${name}${more}`;

beforeAll(async () => {
  open = await openConsole();
  admin = await login(open.service);
});
afterAll(() => open.close());

test('every administration view has no axe violations, and no overflow on desktop and phone', async () => {
  const page = await open.page({ path: view('rules') });
  for (const { value, title } of views) {
    await page.setViewportSize({ width: 1280, height: 800 });
    const links = page.getByRole('navigation', { name: 'Administration views' });
    await links.getByRole('link', { name: title, exact: true }).click(soon);
    await settled(page);
    expect([value, await overflow(page), ...(await violations(page))]).toEqual([value, 0]);
    await page.setViewportSize({ width: phone, height: 800 });
    expect([value, await overflow(page)]).toEqual([value, 0]);
  }
});

test('the console rotates a key: announces the log entry, activates the new key and logs the rotation', async () => {
  const page = await open.page({ path: view('keys') });
  await page.getByRole('button', { name: 'Rotate' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  expect(await violations(page)).toEqual([]);
  await dialog(page).getByRole('button', { name: 'Rotate' }).click();
  await detail(page).getByRole('heading', { name: 'Tree heads, active' }).waitFor(soon);
  const kid = new URL(page.url()).searchParams.get('id');
  const rows = page.getByRole('grid', { name: 'Keys' }).getByRole('row');
  await rows.filter({ hasText: 'Tree heads' }).filter({ hasText: 'retired' }).waitFor(soon);
  const entries = await listed('listEntries', 'kind=key.rotated');
  expect(entries.map(({ attributes }) => JSON.stringify(attributes))).toEqual([
    expect.stringContaining(kid ?? 'no key'),
  ]);
  await detail(page).getByRole('link', { name: 'Log entries about keys' }).click();
  await page.getByRole('grid').getByRole('row').filter({ hasText: 'key.rotated' }).waitFor(soon);
});

test('the console requires a reason to revoke a key', async () => {
  const page = await open.page({ path: view('keys', '&purpose=access-token&state=active') });
  await page.getByRole('grid', { name: 'Keys' }).getByRole('row').nth(1).click();
  await detail(page).getByRole('button', { name: 'Revoke' }).click();
  const revoke = dialog(page).getByRole('button', { name: 'Revoke permanently' });
  expect(await revoke.isDisabled()).toBe(true);
  await dialog(page).getByLabel('Reason').fill('the laptop with it was stolen');
  await revoke.click();
  await page.getByText('Key revoked.').waitFor(soon);
  // Tokens signed by the key are no longer valid.
  admin = await login(open.service);
  expect(await listed('listKeys', 'purpose=access-token&state=active')).toHaveLength(1);
});

test('the console issues a token, shows its secret once, and revokes it', async () => {
  const page = await open.page({ path: view('tokens') });
  await page.getByRole('button', { name: 'Issue token' }).click();
  await dialog(page).getByLabel('Name').fill('a probe');
  await dialog(page)
    .getByRole('checkbox', { name: /^viewer/ })
    .check();
  await dialog(page).getByRole('button', { name: 'Issue token' }).click();
  await dialog(page).getByText('This token is shown only once.').waitFor(soon);
  const secret = (await dialog(page).locator('code.secret').textContent()) ?? '';
  expect(secret).toMatch(/^candor_/);
  expect(page.url()).not.toContain(secret);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(secret);
  expect((await call(open.service, 'listRules', { token: secret })).status).toBe(200);
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('grid', { name: 'Tokens' }).getByRole('row').filter({ hasText: 'a probe' }).click();
  await detail(page).getByRole('button', { name: 'Revoke' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('Token revoked.').waitFor(soon);
  expect((await call(open.service, 'listRules', { token: secret })).status).toBe(401);
});

test('the console creates a user, who signs in and sees no administrator functions', async () => {
  const page = await open.page({ path: view('principals') });
  await page.getByRole('button', { name: 'New principal' }).click();
  const name = dialog(page).getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('admin');
  await dialog(page).getByLabel('Password').fill('long enough to do');
  await dialog(page).getByRole('button', { name: 'Create' }).click();
  await dialog(page).getByText('Is taken').waitFor(soon);
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  await name.fill('vera');
  await dialog(page).getByRole('button', { name: 'Create' }).click();
  await detail(page).getByRole('heading', { name: 'vera' }).waitFor(soon);

  const hers = await open.page({ path: '/administration', signedOut: true });
  await hers.getByLabel('Username').fill('vera');
  await hers.getByLabel('Password').fill('long enough to do');
  await hers.getByRole('button', { name: 'Sign in' }).click();
  const offered = hers.getByRole('navigation', { name: 'Administration views' }).getByRole('link');
  await offered.first().waitFor(soon);
  await settled(hers);
  expect(await offered.allTextContents()).toEqual(['Rules', 'Silences', 'Intel', 'Account']);
  expect(await hers.getByRole('button', { name: 'New rule' }).count()).toBe(0);
  await hers.goto(view('principals'));
  await hers.getByText('Principals is not available to your role').waitFor(soon);

  await hers.goto(view('account'));
  await hers.getByLabel('Current password').fill('not this one');
  await hers.getByLabel('New password', { exact: true }).fill('another long one');
  await hers.getByLabel('Confirm new password').fill('another long one');
  await hers.getByRole('button', { name: 'Change password' }).click();
  await hers.getByText('Is wrong').waitFor(soon);
  await hers.getByLabel('Current password').fill('long enough to do');
  await hers.getByRole('button', { name: 'Change password' }).click();
  await hers.getByText('Password changed.').waitFor(soon);

  // The user's password change created a new version, so the first attempt conflicts and the second succeeds.
  await detail(page).getByRole('button', { name: 'Suspend' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Suspend' }).click();
  await dialog(page).getByText('Someone else changed this').waitFor(soon);
  await settled(page);
  await dialog(page).getByRole('button', { name: 'Suspend' }).click();
  await page.getByText(`${isolateText('vera')} suspended.`).waitFor(soon);
});

test('the console rejects an invalid setting at its field, shows a valid setting as pending, and resets it', async () => {
  const page = await open.page({ path: view('configuration', '&id=alerts.window_ms') });
  const value = detail(page).getByLabel('Value');
  await value.fill('10');
  await detail(page).getByRole('button', { name: 'Save' }).click();
  await detail(page).getByText('expected an integer from 1000 to 2592000000').waitFor(soon);
  expect(await value.getAttribute('aria-invalid')).toBe('true');
  await value.fill('7200000');
  await detail(page).getByRole('button', { name: 'Save' }).click();
  await page.getByText('Restart the service to apply the pending changes').waitFor(soon);
  await page.getByRole('button', { name: 'Pending 1' }).click();
  await page.getByRole('row').filter({ hasText: 'alerts.window_ms' }).filter({ hasText: '→ 2 h' }).waitFor(soon);
  await detail(page).getByRole('button', { name: 'Reset to default' }).click();
  await page.getByText('No pending changes').waitFor(soon);
});

test('the console validates a rule while typing, creates it, and renders its hostile title as text', async () => {
  const page = await open.page({ path: view('rules', '&origin=api') });
  await page.getByRole('button', { name: 'New rule' }).click();
  const text = dialog(page).getByLabel('Rule (YAML)');
  await text.fill(rule('bad').replace('level: medium', 'level: enormous'));
  await dialog(page)
    .getByRole('button', { name: /^Line 10: level/ })
    .click(soon);
  expect(await dialog(page).getByRole('button', { name: 'Create rule' }).isDisabled()).toBe(true);
  await text.fill(rule(hostile));
  await dialog(page).getByText('✓ Valid').waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Test on stored data' }).click();
  await dialog(page)
    .getByText(/matches in 0 events/)
    .waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Create rule' }).click();
  await detail(page).getByRole('heading', { name: hostile }).waitFor(soon);
  await page.getByRole('grid', { name: 'Rules' }).getByRole('row').filter({ hasText: hostile }).waitFor(soon);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  expect(await violations(page)).toEqual([]);

  await detail(page).getByRole('button', { name: 'Disable' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Disable' }).click();
  await detail(page).getByRole('button', { name: 'Enable' }).waitFor(soon);
  await detail(page).getByRole('button', { name: 'Delete' }).click();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Rule deleted.').waitFor(soon);
});

test('the console explains that a built-in detector is not a rule', async () => {
  const page = await open.page({ path: view('rules', '&id=behaviour.port-scan') });
  await detail(page).getByText('is a built-in behaviour detector').waitFor(soon);
});

test('the policy editor shows changes before saving, and rejects a policy that would lock everyone out', async () => {
  const page = await open.page({ path: view('policy', '&q=updatePolicy') });
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('checkbox', { name: 'updatePolicy: admin' }).uncheck();
  await page.getByRole('button', { name: 'Review and save' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  expect(await dialog(page).getByRole('listitem').first().innerText()).toBe('updatePolicy\nadmin\nno roles');
  await dialog(page).getByRole('button', { name: 'Save policy' }).click();
  await dialog(page).getByRole('alert').filter({ hasText: 'could not be changed again' }).waitFor(soon);
});

test('the console creates a silence, an intel list and a backup', async () => {
  const page = await open.page({ path: view('silences') });
  await page.getByRole('button', { name: 'New silence' }).click();
  await dialog(page).getByLabel('Sources').fill('10.0.0.0/8x');
  await dialog(page).getByLabel('Reason').fill(hostile);
  await dialog(page).getByRole('button', { name: 'Create silence' }).click();
  await dialog(page).getByText('Value 1: must be an IPv4 or IPv6 address or a CIDR block').waitFor(soon);
  await dialog(page).getByLabel('Sources').fill('10.1.0.0/16');
  await dialog(page).getByRole('button', { name: 'Create silence' }).click();
  await detail(page).getByText('No alerts suppressed').waitFor(soon);

  await page.goto(view('intel'));
  await page.getByRole('button', { name: 'New list' }).click();
  await dialog(page).getByLabel('Name').fill('known bad');
  await dialog(page).getByLabel('Or paste text').fill('203.0.113.7\nevil.example\nnot at all\n');
  await dialog(page).getByLabel('Confidence').fill('high');
  await dialog(page).getByText('Enter a number.').waitFor(soon);
  expect(await dialog(page).getByRole('button', { name: 'Create list' }).isDisabled()).toBe(true);
  await dialog(page).getByLabel('Confidence').fill('0.5');
  await dialog(page).getByRole('button', { name: 'Create list' }).click();
  await detail(page).getByRole('heading', { name: 'Rejected: 1' }).waitFor(soon);
  await detail(page).getByRole('group', { name: 'Indicators' }).getByText('evil.example').waitFor(soon);
  const known = detail(page).getByRole('term').filter({ hasText: 'Confidence' });
  await known.waitFor(soon);
  await detail(page).getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Confidence').fill('');
  await dialog(page).getByRole('button', { name: 'Save' }).click();
  await known.waitFor({ ...soon, state: 'detached' });

  await page.goto(view('backups'));
  await page.getByRole('button', { name: 'Back up now' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Back up' }).click();
  await detail(page)
    .getByText(/^npx candor restore /)
    .waitFor({ timeout: 60_000 });
});

test('the console links audit records to the proof of their log entry', async () => {
  const page = await open.page({ path: view('audit', '&operation=rotateKey') });
  const records = page.getByRole('grid', { name: 'Records' }).getByRole('row');
  await records.nth(1).getByRole('gridcell').first().click();
  // Simulates a browser that cannot write files, so that no file dialog opens.
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export NDJSON' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^audit-.*\.ndjson$/);
  expect(readFileSync(await download.path(), 'utf8')).toContain('"operation":"rotateKey"');
  const links = detail(page).getByRole('link', { name: 'Proof' });
  await links.first().click(soon);
  await page
    .getByText(/verified in your browser/i)
    .first()
    .waitFor(soon);
  expect(new URL(page.url()).searchParams.get('view')).toBe('proof');
});

test('the console shows the progress of an audit export, and cancels it when leaving the page', async () => {
  const page = await open.page({ path: view('audit') });
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  // The response never arrives.
  await page.route(
    ({ pathname }) => pathname === '/api/v1/audit',
    (route) => (route.request().headers().accept === 'application/x-ndjson' ? undefined : route.continue()),
  );
  await page.getByRole('button', { name: 'Export NDJSON' }).click();
  await page.getByText('0 so far').waitFor();
  expect(await violations(page)).toEqual([]);
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/v1/audit'));
  await page.getByRole('link', { name: 'Alerts', exact: true }).click();
  await ended;
  await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor(soon);
  await settled(page);
  expect(new URL(page.url()).pathname).toBe('/alerts');
});
