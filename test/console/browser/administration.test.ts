/**
 * The administration: what is logged says so, secrets are shown once, faults stand at their field, roles are
 * kept apart.
 */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login } from '../../../scripts/service.ts';
import { views } from '../../../src/console/pages/administration/views.ts';
import { foreign } from '../../../src/console/ui/words.ts';
import { call, type Item } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

/** How long is waited for what takes a moment, on a machine that has other things to do. */
const soon = { timeout: 10_000 };
const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
const recorded = 'This will be recorded in the public log.';
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

test('every view, wide and on a phone: nothing sticks out, and axe finds nothing', async () => {
  const page = await open.page({ path: view('rules') });
  for (const { value, title } of views) {
    await page.setViewportSize({ width: 1280, height: 800 });
    const links = page.getByRole('navigation', { name: 'Views of the administration' });
    await links.getByRole('link', { name: title, exact: true }).click(soon);
    await settled(page);
    expect([value, await overflow(page), ...(await violations(page))]).toEqual([value, 0]);
    await page.setViewportSize({ width: phone, height: 800 });
    expect([value, await overflow(page)]).toEqual([value, 0]);
  }
}, 60_000);

test('a key is rotated: it says that it is recorded, the new one is active, and the log has the entry', async () => {
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
  await detail(page).getByRole('link', { name: 'Entries about keys' }).click();
  await page.getByRole('grid').getByRole('row').filter({ hasText: 'key.rotated' }).waitFor(soon);
});

test('a key is revoked only with a reason', async () => {
  const page = await open.page({ path: view('keys', '&purpose=access-token&state=active') });
  await page.getByRole('grid', { name: 'Keys' }).getByRole('row').nth(1).click();
  await detail(page).getByRole('button', { name: 'Revoke' }).click();
  const revoke = dialog(page).getByRole('button', { name: 'Revoke for good' });
  expect(await revoke.isDisabled()).toBe(true);
  await dialog(page).getByLabel('Why').fill('the laptop with it was stolen');
  await revoke.click();
  await page.getByText('The key is revoked.').waitFor(soon);
  // Tokens that it signed are good no more.
  admin = await login(open.service);
  expect(await listed('listKeys', 'purpose=access-token&state=active')).toHaveLength(1);
});

test('a token is issued: its secret is shown once, good, and nowhere else; then it is revoked', async () => {
  const page = await open.page({ path: view('tokens') });
  await page.getByRole('button', { name: 'Issue a token' }).click();
  await dialog(page).getByLabel('What it is for').fill('a probe');
  await dialog(page)
    .getByRole('checkbox', { name: /^viewer/ })
    .check();
  await dialog(page).getByRole('button', { name: 'Issue the token' }).click();
  await dialog(page).getByText('It is shown this once.').waitFor(soon);
  const secret = (await dialog(page).locator('code.secret').textContent()) ?? '';
  expect(secret).toMatch(/^candor_/);
  expect(page.url()).not.toContain(secret);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(secret);
  expect((await call(open.service, 'listRules', { token: secret })).status).toBe(200);
  await dialog(page).getByRole('button', { name: 'I have it: close' }).click();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('grid', { name: 'Tokens' }).getByRole('row').filter({ hasText: 'a probe' }).click();
  await detail(page).getByRole('button', { name: 'Revoke' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('The token is revoked.').waitFor(soon);
  expect((await call(open.service, 'listRules', { token: secret })).status).toBe(401);
});

test('a user is added and signs in: what is for administrators is not offered', async () => {
  const page = await open.page({ path: view('principals') });
  await page.getByRole('button', { name: 'New principal' }).click();
  const name = dialog(page).getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('admin');
  await dialog(page).getByLabel('Password').fill('long enough to do');
  await dialog(page).getByRole('button', { name: 'Add' }).click();
  await dialog(page).getByText('Is taken').waitFor(soon);
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  await name.fill('vera');
  await dialog(page).getByRole('button', { name: 'Add' }).click();
  await detail(page).getByRole('heading', { name: 'vera' }).waitFor(soon);

  const hers = await open.page({ path: '/administration', signedOut: true });
  await hers.getByLabel('Name').fill('vera');
  await hers.getByLabel('Password').fill('long enough to do');
  await hers.getByRole('button', { name: 'Sign in' }).click();
  const offered = hers.getByRole('navigation', { name: 'Views of the administration' }).getByRole('link');
  await offered.first().waitFor(soon);
  await settled(hers);
  expect(await offered.allTextContents()).toEqual(['Rules', 'Silences', 'Intel', 'Account']);
  expect(await hers.getByRole('button', { name: 'New rule' }).count()).toBe(0);
  await hers.goto(view('principals'));
  await hers.getByText('Principals is not for your role').waitFor(soon);

  await hers.goto(view('account'));
  await hers.getByLabel('Password so far').fill('not this one');
  await hers.getByLabel('New password', { exact: true }).fill('another long one');
  await hers.getByLabel('New password again').fill('another long one');
  await hers.getByRole('button', { name: 'Change the password' }).click();
  await hers.getByText('Is wrong').waitFor(soon);
  await hers.getByLabel('Password so far').fill('long enough to do');
  await hers.getByRole('button', { name: 'Change the password' }).click();
  await hers.getByText('The password is changed.').waitFor(soon);

  // She changed her password since she was looked at here: that is told, and then it goes.
  await detail(page).getByRole('button', { name: 'Suspend' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Suspend' }).click();
  await dialog(page).getByText('Somebody changed it meanwhile').waitFor(soon);
  await settled(page);
  await dialog(page).getByRole('button', { name: 'Suspend' }).click();
  await page.getByText(`${foreign('vera')} is suspended.`).waitFor(soon);
});

test('a setting: a bad value is refused at its field, a good one is pending, and is taken back', async () => {
  const page = await open.page({ path: view('configuration', '&id=alerts.window_ms') });
  const value = detail(page).getByLabel('Value');
  await value.fill('10');
  await detail(page).getByRole('button', { name: 'Store' }).click();
  await detail(page).getByText('wanted an integer from 1000 to 2592000000').waitFor(soon);
  expect(await value.getAttribute('aria-invalid')).toBe('true');
  await value.fill('7200000');
  await detail(page).getByRole('button', { name: 'Store' }).click();
  await page.getByText('The next start changes what is pending').waitFor(soon);
  await page.getByRole('button', { name: 'Pending 1' }).click();
  await page
    .getByRole('row')
    .filter({ hasText: 'alerts.window_ms' })
    .filter({ hasText: '→ 2 h' })
    .waitFor(soon);
  await detail(page).getByRole('button', { name: 'Back to the default' }).click();
  await page.getByText('Nothing is pending.').waitFor(soon);
});

test('a rule is checked as it is typed, added, and its title is text, whatever it says', async () => {
  const page = await open.page({ path: view('rules', '&origin=api') });
  await page.getByRole('button', { name: 'New rule' }).click();
  const text = dialog(page).getByLabel('The rule, in YAML');
  await text.fill(rule('bad').replace('level: medium', 'level: enormous'));
  await dialog(page)
    .getByRole('button', { name: /^Line 10: level/ })
    .click(soon);
  expect(await dialog(page).getByRole('button', { name: 'Add the rule' }).isDisabled()).toBe(true);
  await text.fill(rule(hostile));
  await dialog(page).getByText('It can be applied').waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Try it on stored events' }).click();
  await dialog(page)
    .getByText(/found in 0 events/)
    .waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Add the rule' }).click();
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
  await page.getByText('The rule was deleted.').waitFor(soon);
});

test('a detector of the program is told from a rule', async () => {
  const page = await open.page({ path: view('rules', '&id=behaviour.port-scan') });
  await detail(page).getByText('is a detector of the program itself').waitFor(soon);
});

test('the policy: what changes is shown before it is saved, and who would lock all out is told', async () => {
  const page = await open.page({ path: view('policy', '&q=updatePolicy') });
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('checkbox', { name: 'updatePolicy: admin' }).uncheck();
  await page.getByRole('button', { name: 'Look at it and save' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  expect(await dialog(page).getByRole('listitem').first().innerText()).toBe('updatePolicy\nadmin\nnobody');
  await dialog(page).getByRole('button', { name: 'Change the policy' }).click();
  await dialog(page).getByRole('alert').filter({ hasText: 'could not be changed again' }).waitFor(soon);
});

test('a silence, a list of indicators and a backup are made', async () => {
  const page = await open.page({ path: view('silences') });
  await page.getByRole('button', { name: 'New silence' }).click();
  await dialog(page).getByLabel('Sources').fill('10.0.0.0/8x');
  await dialog(page).getByLabel('Why').fill(hostile);
  await dialog(page).getByRole('button', { name: 'Silence', exact: true }).click();
  await dialog(page).getByText('Value 1: must be an IPv4 or IPv6 address or a CIDR block').waitFor(soon);
  await dialog(page).getByLabel('Sources').fill('10.1.0.0/16');
  await dialog(page).getByRole('button', { name: 'Silence', exact: true }).click();
  await detail(page).getByText('No alert is suppressed by it.').waitFor(soon);

  await page.goto(view('intel'));
  await page.getByRole('button', { name: 'New list' }).click();
  await dialog(page).getByLabel('Name').fill('known bad');
  await dialog(page).getByLabel('Or its text').fill('203.0.113.7\nevil.example\nnot at all\n');
  await dialog(page).getByRole('button', { name: 'Add the list' }).click();
  await detail(page).getByRole('heading', { name: 'Not taken: 1' }).waitFor(soon);
  await detail(page).getByRole('group', { name: 'Indicators' }).getByText('evil.example').waitFor(soon);

  await page.goto(view('backups'));
  await page.getByRole('button', { name: 'Back up now' }).click();
  await dialog(page).getByText(recorded).waitFor(soon);
  await dialog(page).getByRole('button', { name: 'Back up' }).click();
  await detail(page)
    .getByText(/^npx candor restore /)
    .waitFor({ timeout: 30_000 });
});

test('the audit tells who did it, and leads to the proof of what the log has of it', async () => {
  const page = await open.page({ path: view('audit', '&operation=rotateKey') });
  const records = page.getByRole('grid', { name: 'Records' }).getByRole('row');
  await records.nth(1).getByRole('gridcell').first().click();
  // Without asking where to, as browsers do that cannot write files.
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

test('an export of the audit shows how far it is, and is given up when one leaves it', async () => {
  const page = await open.page({ path: view('audit') });
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  // It takes its time: no answer comes.
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
