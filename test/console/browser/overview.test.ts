/** The first page: without data, and with data. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenFor } from '../../../scripts/service.ts';
import { send } from '../../system/call.ts';
import { type Opened, openConsole, settled, violations } from './console.ts';

let open: Opened;
beforeAll(async () => {
  open = await openConsole();
});
afterAll(() => open.close());

const conn = (at: number) =>
  JSON.stringify({
    ts: at / 1000,
    uid: 'C1',
    'id.orig_h': '10.0.0.1',
    'id.orig_p': 40_000,
    'id.resp_h': '192.0.2.1',
    'id.resp_p': 443,
    proto: 'tcp',
    orig_bytes: 100,
    resp_bytes: 200,
    conn_state: 'SF',
  });

test('the overview explains how to start, and links to events outside the range, until the first event in the range', async () => {
  const page = await open.page();
  const begin = page.getByRole('region', { name: 'No events yet' });
  await begin.getByText(`curl ${open.service.url}/api/v1/ingest`).waitFor();
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await begin.getByRole('link', { name: 'configure shippers' }).click();
  await page.waitForURL(/\/docs\?page=shippers/);
  await page.goBack();
  // While figures load, links move.
  await begin.waitFor();
  await settled(page);
  await begin.getByRole('link', { name: 'Issue a token' }).click();
  await page.getByRole('button', { name: 'Issue token' }).waitFor();
  await page.goBack();
  await begin.waitFor();

  const sensor = await tokenFor(open.service, 'sensor');
  await send(open.service, sensor, conn(Date.UTC(2020, 1, 1)));
  const others = page.getByRole('region', { name: 'Events outside this range' });
  await others.getByText('No events in this range. 1 outside it.').waitFor();
  await begin.waitFor({ state: 'detached' });
  await others.getByRole('link', { name: 'Show all' }).click();
  await page.getByText('1 network event', { exact: true }).waitFor();
  // The event is from another year, so its date has the year.
  await page.getByRole('grid').getByText('2020-02-01').waitFor();
  await page.goBack();
  await send(open.service, sensor, conn(Date.now()));
  await others.waitFor({ state: 'detached' });
  await page.getByRole('img', { name: /^Network events: 1 in the current period/ }).waitFor();
  for (const figure of await page.locator('.overview-figure').all())
    expect(await figure.locator('.overview-big').getByRole('link').getAttribute('href')).toMatch(/^\//);
  const figure = page.getByRole('region', { name: 'Network events over time' });
  await figure.getByRole('link', { name: '1', exact: true }).click();
  await page.getByText('1 network event', { exact: true }).waitFor();
});
