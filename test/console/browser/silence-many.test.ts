/**
 * A silence for more alerts than are loaded: the console reports how many alerts the silence does not cover, and these
 * alerts stay open.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, tokenFor } from '../../../scripts/service.ts';
import { isolateText } from '../../../src/console/ui/words.ts';
import { call, type Item, list, send } from '../../system/call.ts';
import { type Opened, openConsole, settled, violations } from './console.ts';

/** Timeout for steps that can take long on a busy machine. */
const soon = { timeout: 60_000 };
const loud = '10.1.0.99';
/** Number of alerts from `loud`, the latest first. Each alert has a separate rule. */
const swarm = 210;

const raised = (n: number, signature: string, src_ip: string) =>
  JSON.stringify({
    timestamp: new Date(Date.now() - n * 1000).toISOString(),
    event_type: 'alert',
    src_ip,
    src_port: 1000,
    dest_ip: '198.51.100.7',
    dest_port: 443,
    proto: 'TCP',
    alert: { gid: 1, signature_id: 2_000_000 + n, rev: 1, signature, category: 'Misc', severity: 3 },
  });

let open: Opened;
let admin: string;
beforeAll(async () => {
  open = await openConsole();
  admin = await login(open.service);
  const lines = [
    ...Array.from({ length: swarm }, (_, n) => raised(n, `Swarm ${n}`, loud)),
    raised(900, 'Other thing of the same source', loud),
    raised(901, 'Other thing of another source', '10.1.0.1'),
  ];
  await send(open.service, await tokenFor(open.service, 'sensor'), lines.join('\n'));
});
afterAll(() => open.close());

const total = async (query: string): Promise<number> =>
  (await list(open.service, 'listAlerts', admin, query)).pagination.total;

async function asked(page: Page) {
  await page.getByRole('grid', { name: 'Alerts' }).getByRole('row').nth(1).waitFor(soon);
  await settled(page);
  await page.keyboard.press('Control+a');
  await page.getByRole('button', { name: `Select all ${swarm} matching` }).click();
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog', { name: 'Silence alerts similar to 200 alerts' });
  await dialog.waitFor(soon);
  return dialog;
}

test('if all matching alerts are selected, the console silences and suppresses only loaded alerts, and reports the others', async () => {
  const page = await open.page({ path: '/alerts?q=Swarm' });
  const dialog = await asked(page);
  await dialog.getByText('10 of the 210 selected alerts are not loaded and will not change.').waitFor(soon);
  // A silence with more rules would be rejected.
  const rules = dialog.getByRole('checkbox', { name: /^This rule/ });
  expect([await rules.isDisabled(), await rules.isChecked()]).toEqual([true, false]);
  await dialog.getByText('200 values; at most 100 allowed').waitFor(soon);
  await dialog.getByText(`Silences alerts from ${isolateText(loud)}, up to severity`).waitFor(soon);
  await dialog.getByText('Matches 211 alerts from the last 7 days. 211 of them are new').waitFor(soon);
  expect(await violations(page)).toEqual([]);
  await dialog.getByLabel('Reason').fill('a test of the sensor');
  await dialog.getByRole('button', { name: 'Silence', exact: true }).click();
  await page.getByText('200 alerts suppressed.').waitFor(soon);

  expect(await total('q=Swarm&status=suppressed')).toBe(200);
  expect(await total('q=Swarm&status=new')).toBe(swarm - 200);
  expect(await total('q=Other+thing&status=new')).toBe(2);
  const { body } = await call(open.service, 'listSilences', { token: admin });
  const silences = (body as { data: Item[] }).data.map(({ attributes }) => attributes.matcher);
  expect(silences).toEqual([{ src_ip: [loud], max_severity: expect.any(String) }]);
  // No row moved; after a refresh, the queue has the other alerts.
  await page.keyboard.press('.');
  await page.getByText('10 alerts', { exact: true }).waitFor(soon);
  await page.goto('/alerts');
  await page.getByText('12 alerts', { exact: true }).waitFor(soon);
});
