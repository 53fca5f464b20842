/** The alert queue: triage by keys alone, live updates, bulk changes, proofs, and conflicts. */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, tokenFor } from '../../../scripts/service.ts';
import { isolateText, quoted } from '../../../src/console/ui/words.ts';
import { call, type Item, list, listAll, send } from '../../system/call.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

const minute = 60_000;
/** Timeout for steps that can take long on a busy machine. */
const soon = { timeout: 60_000 };
const hostile = '<img src=x onerror=alert(1)> "><script>alert(2)</script>';

/** An alert in Suricata's format; each combination of `signature` and `src` is a separate alert. */
const raised = (
  n: number,
  { signature = `Test rule ${n}`, severity = 3, src = `10.1.0.${n}`, at = Date.now() } = {},
) => ({
  timestamp: new Date(at).toISOString().replace('Z', '+0000'),
  flow_id: 1_000_000 + n,
  event_type: 'alert',
  src_ip: src,
  src_port: 40_000 + n,
  dest_ip: '198.51.100.7',
  dest_port: 443,
  proto: 'TCP',
  alert: {
    action: 'allowed',
    gid: 1,
    signature_id: 2_000_000 + n,
    rev: 1,
    signature,
    category: 'Misc',
    severity,
  },
  flow: { pkts_toserver: 3, pkts_toclient: 3, bytes_toserver: 300, bytes_toclient: 400 },
});

let open: Opened;
let sensor: string;
let admin: string;
const sendAlerts = (alerts: readonly object[]) =>
  send(open.service, sensor, alerts.map((alert) => JSON.stringify(alert)).join('\n'));
const titled = async (title: string): Promise<Item> => {
  const found = await listAll(open.service, 'listAlerts', admin);
  const alert = found.find(({ attributes }) => attributes.title === title);
  if (alert === undefined) throw new Error(`no alert ${title} among ${found.length}`);
  return alert;
};
const rows = (page: Page) => page.getByRole('grid', { name: 'Alerts' }).getByRole('row');
const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
const detail = (page: Page) => page.getByRole('region', { name: 'Detail' });
/**
 * Presses keys one after the other, and waits for two frames after each key, so that the effect of the key is shown.
 */
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }
};
/** Returns the toast of a completed change. Before the toast, the row shows the expected result. */
const changed = (page: Page, title: string, told: string) =>
  page.locator('.toast').filter({ hasText: `${quoted(title)}: ${told}.` });
const idOf = (page: Page): string => new URL(page.url()).searchParams.get('id') ?? '';

/** Opens the queue and waits for its rows. */
async function queue(path = '/alerts', options: { width?: number } = {}): Promise<Page> {
  const page = await open.page({ path, ...options });
  await rows(page).nth(1).waitFor();
  await settled(page);
  return page;
}

beforeAll(async () => {
  open = await openConsole();
  sensor = await tokenFor(open.service, 'sensor');
  admin = await login(open.service);
  const bob = { name: 'bob', kind: 'user', roles: ['analyst'] };
  await call(open.service, 'createPrincipal', { token: admin, json: bob });
  const now = Date.now();
  // The first alert is the latest, so it is at the top of the queue.
  await sendAlerts(Array.from({ length: 40 }, (_, n) => raised(n + 1, { at: now - (n + 1) * minute })));
  await sendAlerts([
    raised(90, { signature: 'Grave one', severity: 1, at: now - 50 * minute }),
    ...Array.from({ length: 210 }, (_, n) =>
      raised(100 + n, { signature: `Swarm ${n}`, src: '10.1.0.99', at: now - 60 * minute }),
    ),
    {
      type: 'network_event',
      timestamp: new Date(now - 23 * minute).toISOString(),
      src_ip: '10.1.0.22',
      src_port: 40_022,
      dst_ip: '198.51.100.7',
      dst_port: 443,
      transport: 'tcp',
      state: 'closed',
    },
    raised(91, { signature: hostile, at: now - 51 * minute }),
  ]);
});
afterAll(() => open.close());

test('the console triages ten alerts by keys alone, moving to the next alert each time', async () => {
  const page = await queue('/alerts?q=Test+rule');
  await press(page, 'j', 'Enter');
  await detail(page).getByRole('heading', { name: 'Test rule 1', exact: true }).waitFor();
  await detail(page).getByText('Seen by this sensor only.').waitFor();
  for (let n = 1; n <= 10; n++) {
    await press(page, 'r');
    await page.getByRole('dialog').waitFor();
    await press(page, '2', 'Enter');
    await detail(page)
      .getByRole('heading', { name: `Test rule ${n + 1}`, exact: true })
      .waitFor();
    await row(page, 'Resolved')
      .nth(n - 1)
      .waitFor();
  }
  const { pagination } = await list(open.service, 'listAlerts', admin, 'status=resolved&verdict=false_positive');
  expect(pagination.total).toBe(10);
  // Changed rows stay until the list is refreshed.
  await press(page, '.');
  await expect.poll(() => row(page, 'Resolved').count(), soon).toBe(0);
  await expect.poll(() => rows(page).nth(1).textContent(), soon).toContain('Test rule 11');
});

test('shortcut keys assign and start an alert, add a note, set the verdict, and unassign the alert', async () => {
  const page = await queue('/alerts?q=Test+rule+30');
  await press(page, 'j', 'Enter');
  await detail(page).getByRole('heading', { name: 'Test rule 30' }).waitFor();
  await press(page, 'a');
  await detail(page).getByRole('button', { name: 'Assignee: admin. Change' }).waitFor();
  await press(page, 'i');
  await detail(page).getByText('In progress').first().waitFor();
  await press(page, 'n');
  await page.getByRole('dialog').getByLabel('Note').fill(hostile);
  await press(page, 'Control+Enter');
  await detail(page).getByRole('heading', { name: 'Notes · 1' }).waitFor();
  await detail(page).getByText(hostile).first().waitFor();
  await press(page, 'v', '4', 'Enter');
  await detail(page).getByText('Analyst: suspicious').waitFor();
  await expect
    .poll(() => titled('Test rule 30'), soon)
    .toMatchObject({
      attributes: { status: 'in_progress', assignee: 'admin', verdict: 'suspicious', note_count: 1 },
    });
  await press(page, 'u');
  await detail(page).getByRole('button', { name: 'Assignee: unassigned. Change' }).waitFor();
  for (const what of ['changed the assignee: admin', 'added a note', 'set the verdict'])
    await detail(page).getByText(what).first().waitFor();
  expect(await violations(page)).toEqual([]);
});

test('the console warns that a verdict against the model is logged, requires a reason, and records it', async () => {
  const page = await queue(`/alerts?q=Test+rule+31`);
  const { ai_verdict } = (await titled('Test rule 31')).attributes as { ai_verdict: { verdict: string } };
  await press(page, 'j', 'Enter', 'v', ai_verdict.verdict === 'test' ? '1' : '6');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Override the model').check();
  await dialog.getByText('Recorded in the public log').waitFor();
  await dialog.getByRole('button', { name: 'Override and record' }).click();
  await dialog.getByText('Enter a reason for the override.').waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByLabel('Reason').fill('we tried the rule');
  await dialog.getByRole('button', { name: 'Override and record' }).click();
  await detail(page).getByText('Overridden by admin').waitFor();
  await expect
    .poll(async () => (await titled('Test rule 31')).attributes.override, soon)
    .toMatchObject({
      reason: 'we tried the rule',
      by: 'admin',
    });
});

test('the console announces a new alert within a second without moving rows, and shows the alert on request', async () => {
  const page = await queue('/alerts?sort=-last_seen');
  await press(page, 'j', 'j');
  const before = await rows(page).allTextContents();
  const title = `Live ${crypto.randomUUID()}`;
  await sendAlerts([raised(60, { signature: title })]);
  await page.getByRole('button', { name: '1 new' }).waitFor({ timeout: 1000 });
  const titles = (texts: readonly string[]) => texts.map((text) => /Test rule \d+/.exec(text)?.[0]);
  expect(titles(await rows(page).allTextContents())).toEqual(titles(before));
  await press(page, '.');
  await expect.poll(() => rows(page).nth(1).textContent(), soon).toContain(title);
});

test('the console updates an alert in place when another user changes it', async () => {
  const page = await queue();
  const { id } = await titled('Test rule 25');
  await row(page, 'Test rule 25').waitFor();
  const json = { status: 'in_progress', assignee: 'bob' };
  await call(open.service, 'updateAlert', { token: admin, params: [id], json });
  await row(page, 'Test rule 25').getByText('bob').waitFor({ timeout: 1000 });
});

test('the console selects rows by key and with shift, and changes them together', async () => {
  const page = await queue('/alerts?q=Test+rule+1');
  await page.getByRole('checkbox', { name: 'Select row' }).nth(0).click();
  await page
    .getByRole('checkbox', { name: 'Select row' })
    .nth(3)
    .click({ modifiers: ['Shift'] });
  const bar = page.getByRole('toolbar');
  await bar.getByText('4 selected').waitFor();
  await press(page, 'x');
  await bar.getByText('3 selected').waitFor();
  await press(page, 'x');
  expect(await violations(page)).toEqual([]);
  await press(page, 'a');
  await page.getByText(`4 alerts assigned to ${isolateText('admin')}`).waitFor();
  await expect.poll(() => row(page, '· admin').count(), soon).toBe(4);
  const { pagination } = await list(open.service, 'listAlerts', admin, 'q=Test+rule+1&assignee=admin');
  expect(pagination.total).toBe(4);
  await press(page, 'Control+a');
  await bar.getByText('selected').waitFor();
  await press(page, 'Escape');
  await expect.poll(() => bar.count(), soon).toBe(0);
});

test('the console changes all matching alerts, including alerts that are not loaded', async () => {
  const page = await queue('/alerts?q=Swarm');
  await press(page, 'Control+a');
  await page.getByRole('button', { name: 'Select all 210 matching' }).click();
  await page.getByRole('toolbar').getByText('210 selected').waitFor();
  await press(page, 'i');
  await page.getByText('210 alerts in progress.').waitFor();
  const { pagination } = await list(open.service, 'listAlerts', admin, 'q=Swarm&status=in_progress');
  expect(pagination.total).toBe(210);
});

describe('the alerts page', () => {
  /** Opens a page without live updates, so that its data is outdated. */
  async function withoutLive(path: string): Promise<Page> {
    const page = await open.page({ path: '/overview' });
    await page.routeWebSocket(/\/ws$/, () => undefined);
    await page.goto(path);
    await rows(page).nth(1).waitFor();
    await settled(page);
    return page;
  }

  test('does not overwrite a change by another user', async () => {
    const page = await withoutLive('/alerts?q=Test+rule+35');
    const { id } = await titled('Test rule 35');
    await call(open.service, 'updateAlert', { token: admin, params: [id], json: { assignee: 'bob' } });
    await press(page, 'j', 'a');
    await page.getByText(`another user changed it: assignee is now ${isolateText('bob')}`).waitFor();
    await row(page, 'bob').waitFor();
    expect((await titled('Test rule 35')).attributes.assignee).toBe('bob');
  });

  test('changes an alert that has had only new occurrences since it was loaded', async () => {
    const page = await withoutLive('/alerts?q=Test+rule+36');
    await sendAlerts([raised(36)]);
    await press(page, 'j', 'a');
    await changed(page, 'Test rule 36', `assigned to ${isolateText('admin')}`).waitFor();
    await row(page, 'admin').waitFor();
    await expect
      .poll(async () => (await titled('Test rule 36')).attributes, soon)
      .toMatchObject({ assignee: 'admin', count: 2 });
  });

  test('applies changes in the order of the keys, even if the service responds slowly', async () => {
    const page = await queue('/alerts?q=Test+rule+34');
    let answered = 0;
    await page.route('**/api/v1/alerts/*', async (route) => {
      // Delays the first request: later requests would overtake it.
      if (route.request().method() === 'PUT' && answered++ === 0)
        await new Promise((resolve) => setTimeout(resolve, 1000));
      await route.continue();
    });
    await press(page, 'j', 'a', 'i');
    await changed(page, 'Test rule 34', 'in progress').waitFor();
    expect(await page.getByText('was not changed').count()).toBe(0);
    await expect
      .poll(async () => (await titled('Test rule 34')).attributes, soon)
      .toMatchObject({ assignee: 'admin', status: 'in_progress' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('rejects a status change that is not allowed', async () => {
    const { id } = await titled('Test rule 37');
    await call(open.service, 'updateAlert', { token: admin, params: [id], json: { status: 'suppressed' } });
    const page = await queue('/alerts?view=all&q=Test+rule+37');
    await press(page, 'j', 'r');
    await page.getByText('Suppressed alerts can be changed to in progress (i) or archived, not to resolved.').waitFor();
  });

  test('reports an unreachable service', async () => {
    const page = await queue('/alerts?q=Test+rule+38');
    await page.route('**/api/v1/alerts/**', (route) => route.abort());
    await press(page, 'j', 'a');
    await page.getByText('The change may not have been saved').waitFor();
    await expect.poll(() => row(page, 'admin').count(), soon).toBe(0);
    await page.unroute('**/api/v1/alerts/**');
    expect((await titled('Test rule 38')).attributes.assignee).toBe(undefined);
  });

  test('reports that the alert in the URL does not exist', async () => {
    const page = await queue('/alerts?id=01a20228-8a9d-7f56-91d2-8da129653732');
    await detail(page).getByText('There is no alert with this ID').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test('opens the alert in the URL even if the filters exclude it', async () => {
    const { id } = await titled('Test rule 20');
    const page = await queue(`/alerts?q=Grave&id=${id}`);
    await detail(page).getByRole('heading', { name: 'Test rule 20' }).waitFor();
    expect(await row(page, 'Test rule 20').count()).toBe(0);
  });
});

test('silencing shows the matcher, creates the silence, and suppresses the alert', async () => {
  const page = await queue('/alerts?q=Test+rule+39');
  await press(page, 'j', 's');
  const dialog = page.getByRole('dialog');
  await dialog
    .getByText(
      `Silences alerts with rule ${isolateText('Test rule 39')} from ${isolateText('10.1.0.39')}, up to severity`,
    )
    .waitFor();
  await dialog.getByText('Matches 1 alert from the last 7 days. 1 of them is new').waitFor();
  expect(await violations(page)).toEqual([]);
  await press(page, 'Enter');
  await dialog.getByText('Enter a reason.').waitFor();
  await page.keyboard.type('maintenance');
  await press(page, 'Enter');
  await page.getByText('Silenced until').waitFor();
  await row(page, 'Suppressed').waitFor();
  const { body } = await call(open.service, 'listSilences', { token: admin });
  expect((body as { data: Item[] }).data[0]?.attributes).toMatchObject({
    matcher: { rule_id: ['1:2000039'], src_ip: ['10.1.0.39'] },
    reason: 'maintenance',
    owner: 'admin',
  });
});

describe('the proof of a logged alert', () => {
  const shown = async (page: Page) => {
    await press(page, 'j', 'p');
    return detail(page);
  };
  const logged = () => expect.poll(async () => (await titled('Grave one')).attributes.transparency, soon).toBeDefined();

  test('is verified in the browser', async () => {
    await logged();
    const page = await queue('/alerts?q=Grave');
    const view = await shown(page);
    await view.getByText('Verified in this browser').waitFor();
    await view.getByText('Logged as: high, “Grave one”').waitFor();
    await view.getByRole('link', { name: 'Show the proof' }).click();
    await page.waitForURL(/\/transparency\?view=proof&index=\d+/);
    const index = new URL(page.url()).searchParams.get('index');
    await page.getByRole('heading', { name: `Entry ${index}`, exact: true }).waitFor();
    await page.getByText('Verified in your browser, not by the server').waitFor();
    await page.getByRole('main').getByText('Grave one').first().waitFor();
  });

  test('is rejected if a hash was altered in transit', async () => {
    await logged();
    const page = await open.page({ path: '/overview' });
    await page.route('**/api/transparency/inclusion*', async (route) => {
      const answer = await route.fetch();
      const proof = (await answer.json()) as { audit_path: string[] };
      const [first = '', ...rest] = proof.audit_path;
      const flipped = (first.startsWith('0') ? '1' : '0') + first.slice(1);
      await route.fulfill({ response: answer, json: { ...proof, audit_path: [flipped, ...rest] } });
    });
    await page.goto('/alerts?q=Grave');
    await rows(page).nth(1).waitFor();
    const view = await shown(page);
    await view.getByText('Not proven.').waitFor();
    await view.getByText('NOT_INCLUDED', { exact: true }).waitFor();
  });
});

test('a script in a title is shown as text', async () => {
  const page = await queue('/alerts?q=onerror');
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await press(page, 'j', 'Enter');
  await detail(page).getByRole('heading', { name: hostile }).waitFor();
  await press(page, 's');
  await page.getByRole('dialog').getByText(hostile).first().waitFor();
  expect(asked).toEqual([]);
  expect(await page.locator('img').count()).toBe(0);
});

test('dragging over the histogram sets the time range', async () => {
  const page = await queue();
  const box = await page.locator('.alert-histogram .u-over').boundingBox();
  if (box === null) throw new Error('no histogram');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  const { searchParams } = new URL(page.url());
  const length = Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '');
  expect(length).toBeGreaterThan(3 * 60 * minute);
  expect(length).toBeLessThan(8 * 60 * minute);
});

test('the most severe alerts come first', async () => {
  const page = await queue();
  expect(await rows(page).nth(1).textContent()).toContain('Grave one');
  await page.getByRole('columnheader', { name: 'Severity' }).and(page.locator('[aria-sort=descending]')).waitFor();
});

test('a tab counts the alerts that it lists, with any filters', async () => {
  const { id } = await titled('Test rule 33');
  const resolved = { token: admin, params: [id], json: { status: 'resolved' } };
  expect((await call(open.service, 'updateAlert', resolved)).status).toBe(200);
  const page = await queue('/alerts?q=Test+rule+33&status=resolved');
  const tab = (name: string) => page.getByRole('button', { name, exact: true });
  await page.locator('[aria-current=page]').and(tab('All 1')).waitFor();
  await tab('Mine 0').waitFor();
  await tab('Open 0').click();
  await page.getByText('No open alerts in this range').waitFor();
  expect(new URL(page.url()).searchParams.get('view')).toBe('open');
  await tab('All 1').click();
  await row(page, 'Test rule 33').waitFor();
});

test('a group of alerts with the same rule opens the list of its alerts', async () => {
  const page = await open.page({ path: '/alerts?group=rule_id&view=all&severity=high' });
  const groups = page.getByRole('grid', { name: 'Groups of alerts' }).getByRole('row');
  const group = groups.filter({ hasText: 'Grave one' });
  await group.waitFor();
  expect(await violations(page)).toEqual([]);
  await group.click();
  await page.waitForURL(/rule_id=1%3A2000090/);
  await row(page, 'Grave one').waitFor();
  expect(await rows(page).count()).toBe(2);
});

describe('the export', () => {
  /**
   * Opens the dialog in a browser that cannot write files: otherwise only the system's dialog would be
   * visible.
   */
  async function exporting(): Promise<{ page: Page; dialog: Locator }> {
    const page = await queue('/alerts?view=all&q=Test+rule+2');
    await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    await page.getByRole('button', { name: 'Export' }).click();
    return { page, dialog: page.getByRole('dialog', { name: 'Export alerts' }) };
  }

  test.each([
    ['NDJSON', /^alerts-\d{8}T\d{6}Z\.ndjson$/, { type: 'alert' }],
    ['OCSF', /^alerts-\d{8}T\d{6}Z\.ocsf\.ndjson$/, { class_uid: 2004 }],
  ])('contains the filtered alerts, one per line: %s', async (format, name, first) => {
    const { page, dialog } = await exporting();
    const { pagination } = await list(open.service, 'listAlerts', admin, 'q=Test+rule+2');
    await dialog.getByText(`Exports ${pagination.total} matching alerts`).waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: format }).click();
    const downloads = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    const download = await downloads;
    expect(download.suggestedFilename()).toMatch(name);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines).toHaveLength(pagination.total);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject(first);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(`${pagination.total} alerts exported.`).waitFor();
  });

  test.each([
    ['Cancel', (dialog: Locator) => dialog.getByRole('button', { name: 'Cancel' }).click()],
    ['closing the dialog', (dialog: Locator) => dialog.getByRole('button', { name: 'Close' }).click()],
  ])('is cancelled by %s', async (way, giveUp) => {
    const { page, dialog } = await exporting();
    // The response never arrives.
    await page.route('**/api/v1/alerts/export*', () => undefined);
    const downloads: unknown[] = [];
    page.on('download', (download) => downloads.push(download));
    await dialog.getByRole('button', { name: 'Download' }).click();
    await dialog.getByText('0 of').waitFor();
    expect(await violations(page)).toEqual([]);
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/alerts/export'));
    await giveUp(dialog);
    await ended;
    if (way === 'Cancel') await dialog.getByRole('button', { name: 'Download' }).waitFor();
    else await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(downloads).toEqual([]);
  });
});

test('the console links an alert to its events and to its asset', async () => {
  const page = await queue('/alerts?q=Test+rule+22');
  await press(page, 'j', 'Enter');
  await detail(page).getByRole('link', { name: 'Related network events' }).click();
  await page.waitForURL(/\/events\?.*src_ip=10\.1\.0\.22/);
  // The record on which the sensor alerted is an event, too.
  await page.locator('.events-count').getByText('2 network events', { exact: true }).waitFor();
  await page.goBack();
  await detail(page).getByRole('link', { name: '10.1.0.22', exact: true }).click();
  await page.waitForURL(/\/assets\?id=/);
  await detail(page).getByRole('heading', { name: '10.1.0.22', exact: true }).waitFor();
});

test('on a phone an alert is read and resolved without overflow', async () => {
  const page = await queue('/alerts?q=Test+rule+40', { width: phone });
  expect(await overflow(page)).toBe(0);
  await row(page, 'Test rule 40').click();
  await detail(page).getByRole('button', { name: 'Resolve' }).waitFor();
  await settled(page);
  expect(await overflow(page)).toBe(0);
  expect(await violations(page)).toEqual([]);
  const id = idOf(page);
  await detail(page).getByRole('button', { name: 'Resolve' }).click();
  await page.getByLabel('Benign').check();
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
  await expect
    .poll(async () => (await list(open.service, 'listAlerts', admin, 'verdict=benign')).data.map((one) => one.id), soon)
    .toEqual([id]);
});
