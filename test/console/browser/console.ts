/**
 * Opens the console as users see it: a separate service, and pages in a real Chromium.
 *
 *     let open: Opened;
 *     beforeAll(async () => { open = await openConsole({ data: sendRealData }); });
 *     afterAll(() => open.close());
 *     test('…', async () => {
 *       const page = await open.page();                    // signed in as the administrator, on the overview
 *       await page.goto('/alerts?severity=high');
 *       expect(await violations(page)).toEqual([]);        // axe, WCAG 2.2 AA
 *     });                                                  // open.close() fails if a page had errors
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { adminPassword, type Service, startService } from '../../../scripts/service.ts';

export interface PageOptions {
  readonly theme?: 'dark' | 'light';
  /** Width in CSS pixels: 1280, or 390 for a phone. */
  readonly width?: number;
  /** Opens the page without signing in. */
  readonly signedOut?: boolean;
  readonly path?: string;
}

export interface Opened {
  readonly service: Service;
  readonly browser: Browser;
  /**
   * Opens a page in a new browser context, which shares nothing with other pages. The page is closed when the test
   * ends, so this function can only be called in tests and throws in a hook.
   */
  page(options?: PageOptions): Promise<Page>;
  /** Problems of pages so far: script errors, CSP violations, and responses with status 500 and above. */
  readonly problems: string[];
  /** Stops browser and service. Throws if a page had problems or the service exited with an error. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Sends data to the service before any page is opened. */
  readonly data?: (service: Service) => Promise<void>;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new folder, removed at the end. */
  readonly dataDir?: string;
}

export const phone = 390;
const desk = 1280;

export async function openConsole({ data, env, dataDir }: OpenOptions = {}): Promise<Opened> {
  const service = await startService({
    ...(env !== undefined && { env }),
    ...(dataDir !== undefined && { dataDir }),
  });
  await data?.(service);
  const browser = await launch();
  const problems: string[] = [];
  return {
    service,
    browser,
    problems,
    async page({ theme = 'dark', width = desk, signedOut = false, path = '/overview' } = {}) {
      const context = await browser.newContext({
        baseURL: service.url,
        viewport: { width, height: 800 },
        colorScheme: theme,
        reducedMotion: 'reduce',
        acceptDownloads: true,
      });
      onTestFinished(() => context.close());
      if (!signedOut) {
        const session = JSON.stringify(await newSession(service));
        // Runs before the scripts of every page load. Stores the session only on the first load, so that a
        // sign-out persists.
        await context.addInitScript((kept) => {
          if (localStorage.getItem('test.signed-in') !== null) return;
          localStorage.setItem('test.signed-in', 'yes');
          localStorage.setItem('candor.session', kept);
        }, session);
      }
      const page = await context.newPage();
      watch(page, problems);
      await page.goto(path);
      return page;
    },
    async close() {
      await browser.close();
      const code = await service.stop();
      if (code !== 0) problems.push(`the service ended with ${code}`);
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  };
}

function launch(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM;
  if (executablePath === undefined) throw new Error('CHROMIUM: must name a browser; npm run test:console sets it');
  // The sandbox needs a separate user or namespaces, which containers seldom allow.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** Tokens in the format that src/console/state/session.ts stores. */
async function newSession({ url }: Service): Promise<object> {
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  });
  const tokens = (await answer.json()) as Record<string, never>;
  const now = Date.now();
  return {
    access: tokens.access_token,
    expiresAt: now + Number(tokens.expires_in) * 1000,
    refresh: tokens.refresh_token,
    refreshExpiresAt: now + Number(tokens.refresh_expires_in) * 1000,
  };
}

function watch(page: Page, problems: string[]): void {
  const note = (what: string) => problems.push(`${new URL(page.url()).pathname}: ${what}`);
  page.on('pageerror', (error) => note(error.stack ?? error.message));
  page.on('console', (message) => {
    // The browser logs each error response; relevant responses are recorded by `response`.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) note(message.text());
  });
  page.on('response', (response) => {
    if (response.status() >= 500) note(`${response.status()} ${response.url()}`);
  });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const level = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Returns the axe violations of the current page, one per line. */
export async function violations(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  // Bypasses the page's CSP, which blocks foreign scripts.
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return result.value;
  };
  if (!(await evaluate(`'axe' in globalThis`))) await evaluate(axe);
  const found = await evaluate(`axe.run({ runOnly: ${JSON.stringify(level)}, resultTypes: ['violations'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any, all, none }) => id + ': ' + html.slice(0, 200) + ' — ' + (any[0] ?? all[0] ?? none[0])?.message)))`);
  await session.detach();
  return found as string[];
}

/** Returns by how many pixels the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return Math.max(0, scrollWidth - clientWidth);
  });

/**
 * Waits until a page is shown and nothing is loading, for three frames in a row, because effects send their requests only
 * after the frame that drew the page.
 */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    (seen) => {
      const isThere =
        document.querySelector('.loading, [aria-busy=true]') === null &&
        document.querySelector('main') !== null &&
        document.querySelector('h1') !== null;
      seen.times = isThere ? seen.times + 1 : 0;
      return seen.times === 3;
    },
    // The object is shared between calls: this function runs immediately and then in each frame.
    { times: 0 },
  );
}

/** Expects the page to settle at this path and query. A URL can be replaced shortly after it appears. */
export async function staysAt(page: Page, path: string): Promise<void> {
  await settled(page);
  const { pathname, search } = new URL(page.url());
  expect(pathname + search).toBe(path);
}
