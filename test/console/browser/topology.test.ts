/** The graph of connections, as a picture and as a table, with real traffic. */
import type { Core } from 'cytoscape';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenFor } from '../../../scripts/service.ts';
import { send } from '../../system/call.ts';
import { hasSharedData } from '../../system/shared-data.ts';
import { type Opened, openConsole, settled, violations } from './console.ts';
import { sendRealData } from './real-data.ts';

/** Timeout for steps that can take long on a busy machine. */
const soon = { timeout: 60_000 };

describe.skipIf(!hasSharedData)('the topology', () => {
  let open: Opened;
  beforeAll(async () => {
    open = await openConsole({ data: sendRealData });
  });
  afterAll(() => open?.close());

  test('has a picture with a summary, and a table of the same edges', async () => {
    const page = await open.page({ path: '/topology?range=all' });
    await settled(page);
    const picture = page.getByRole('img', { name: /hosts in .* networks/ });
    await picture.waitFor();
    expect(await picture.locator('canvas').count()).toBeGreaterThan(0);
    await page.getByRole('list', { name: 'Legend' }).getByText('High risk').waitFor();
    await page.getByText(/ · open alerts, medium and above, on \d+ edges?/).waitFor();
    const said = await page.getByRole('status').filter({ hasText: 'edges' }).textContent();
    const edges = Number(/([\d,]+) edges/.exec(said ?? '')?.[1]?.replaceAll(',', ''));
    expect(edges).toBeGreaterThan(10);
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    const table = page.getByRole('grid', { name: 'Edges' });
    await table.waitFor();
    expect(page.url()).toContain('view=table');
    expect(Number(await table.getAttribute('aria-rowcount'))).toBe(edges + 1);
    await table.getByRole('columnheader', { name: 'Open alerts' }).getByRole('button').click();
    expect(await violations(page)).toEqual([]);
    const mark = table.getByRole('link', { name: /\d open alerts? between/ }).first();
    const told = (await mark.textContent()) ?? '';
    const [, count, source, target] = /(\d+) open alerts? between (\S+) and (\S+)/.exec(told) ?? [];
    await mark.click();
    const alerts = page.getByRole('grid', { name: 'Alerts' });
    await alerts.getByRole('row').nth(1).waitFor();
    await settled(page);
    expect(Number(await alerts.getAttribute('aria-rowcount'))).toBe(Number(count) + 1);
    const { searchParams } = new URL(page.url());
    expect([...searchParams.getAll('src_ip'), ...searchParams.getAll('dst_ip')]).toEqual(
      expect.arrayContaining([source, target]),
    );
  });

  test('labels at most 45 nodes, plus the node under the pointer', async () => {
    const page = await open.page({ path: '/topology?range=all' });
    await settled(page);
    const canvas = page.locator('.topology-canvas');
    const nodes = () =>
      canvas.evaluate((element) => {
        const { cy } = (element as unknown as { _cyreg: { cy: Core } })._cyreg;
        return cy.nodes().map((node) => ({
          id: node.id(),
          isNamed: node.hasClass('named'),
          size: node.data('size') as number | undefined,
          ...node.renderedPosition(),
        }));
      });
    await expect.poll(async () => (await nodes()).some(({ isNamed }) => isNamed), soon).toBe(true);
    const drawn = await nodes();
    const named = drawn.filter(({ isNamed }) => isNamed);
    expect(named.length).toBeLessThanOrEqual(45);
    const small = drawn.find(({ isNamed, size }) => !isNamed && size !== undefined);
    if (small === undefined) throw new Error('every host has a name');
    const box = (await canvas.boundingBox())!;
    await page.mouse.move(box.x + small.x, box.y + small.y, { steps: 3 });
    await expect
      .poll(async () => (await nodes()).filter(({ isNamed }) => isNamed).map(({ id }) => id), soon)
      .toContain(small.id);
  });

  test('shows the host in the URL, with its peers and the link to its asset', async () => {
    const page = await open.page({ path: '/topology?range=all&id=192.168.1.1' });
    await settled(page);
    const detail = page.getByRole('region', { name: 'Detail' });
    await detail.getByText(/Peers shown/).waitFor();
    expect(await violations(page)).toEqual([]);
    await detail.getByRole('button', { name: 'Focus' }).click();
    await page.waitForURL(/focus=/);
    await page.getByRole('button', { name: 'Whole network' }).waitFor();
    const asked = page.waitForResponse((response) => /topology\?.*focus=/.test(response.url()));
    await page.getByRole('button', { name: 'Refresh' }).click();
    expect((await asked).ok()).toBe(true);
    await detail.getByRole('link', { name: 'Asset', exact: true }).click();
    await page.waitForURL(/\/assets\?id=/);
  });

  test('counts new nodes and edges of live updates', async () => {
    const page = await open.page({ path: '/topology?range=all' });
    await settled(page);
    await page.getByText('· live').waitFor();

    const line = {
      ts: Date.now() / 1000,
      uid: 'CnewEdge1',
      'id.orig_h': '192.168.1.103',
      'id.orig_p': 50_000,
      'id.resp_h': '192.168.1.250',
      'id.resp_p': 443,
      proto: 'tcp',
      conn_state: 'SF',
      orig_ip_bytes: 1000,
      resp_ip_bytes: 2000,
    };
    await send(open.service, await tokenFor(open.service, 'sensor'), JSON.stringify(line));
    await page.getByText(/· \d+ new/).waitFor({ timeout: 60_000 });
  });
});
