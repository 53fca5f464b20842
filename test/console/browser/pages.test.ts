/**
 * Opens every page in both themes, on desktop and phone, with and without real data, and checks for errors, overflow and
 * axe violations. If CONSOLE_SCREENSHOTS names a folder, screenshots are saved there.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consolePages } from '../../../src/contract/console-pages.ts';
import { hasSharedData } from '../../system/shared-data.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';
import { sendRealData } from './real-data.ts';

const pictures = process.env.CONSOLE_SCREENSHOTS;
if (pictures !== undefined) mkdirSync(pictures, { recursive: true });

const looks = [
  { theme: 'dark', width: 1280 },
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: phone },
  { theme: 'light', width: phone },
] as const;

/** The pages with data have the elements of the empty pages. */
const looksOfEmpty = hasSharedData ? [looks[0], looks[3]] : looks;

const services = [{ name: 'empty', data: undefined }, ...(hasSharedData ? [{ name: 'real', data: sendRealData }] : [])];

describe.each(services)('the console with $name data', ({ name, data }) => {
  let open: Opened;
  beforeAll(async () => {
    open = await openConsole(data === undefined ? {} : { data });
  });
  afterAll(() => open.close());

  /** Checks a page in the themes and widths. */
  async function inEveryLook(path: string, page: Page): Promise<void> {
    for (const { theme, width } of data === undefined ? looksOfEmpty : looks) {
      await page.emulateMedia({ colorScheme: theme });
      await page.setViewportSize({ width, height: 800 });
      await settled(page);
      const look = `${path}-${theme}-${width}`;
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}-${look}.png`) });
      // Charts are redrawn one frame after a width change.
      await expect.poll(async () => [look, await overflow(page)]).toEqual([look, 0]);
      expect([look, ...(await violations(page))]).toEqual([look]);
    }
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
  }

  test.each(consolePages.filter((page) => page !== 'sign-in'))(
    'has no errors, overflow or accessibility violations: %s',
    async (path) => {
      await inEveryLook(path, await open.page({ path: `/${path}` }));
    },
  );

  test('has no errors, overflow or accessibility violations at sign-in', async () => {
    const page = await open.page({ path: '/sign-in', signedOut: true });
    await page.getByLabel('Password').waitFor();
    await inEveryLook('sign-in', page);
  });
});
