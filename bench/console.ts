/**
 * How long until the console's first page is usable, with five million events stored, and does it render 60 frames per
 * second while a thousand live events per second arrive? Measured by the browser's own trace, in a Chromium on the same
 * cores as the service. A page is usable once it shows its figures and no task of more than 50 ms follows. Each load
 * uses a browser with an empty cache.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { adminPassword, type Service, startService, tokenFor } from '../scripts/service.ts';
import { connLines } from '../scripts/traffic/index.ts';
import { createClient } from '../src/client/client.ts';
import { framesOf, type TraceEvent, usableMs } from './load/trace.ts';
import { type BenchRow, median, quantile, rowOfRounds, rowsAbout } from './result.ts';
import { fill } from './startup.ts';

const eventsPerSecond = 1000;
const bodiesPerSecond = 10;

export async function run(events = 5_000_000, loads = 7, seconds = 20): Promise<BenchRow[]> {
  const executablePath = process.env.CHROMIUM;
  if (executablePath === undefined) throw new Error('CHROMIUM is not the path of a browser');
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-console-'));
  // The data folder must have a log, which the first start creates.
  await (await startService({ dataDir })).stop();
  await fill(dataDir, events);
  const service = await startService({ dataDir });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    await counted(service);
    const question = `The first page, with ${events.toLocaleString('en')} stored events, until it is usable`;
    const times: number[] = [];
    let bytes = 0;
    for (let n = 0; n < loads; n++) {
      const load = await firstPage(browser, service);
      times.push(load.ms);
      bytes = load.bytes;
    }
    return [
      rowOfRounds({ question, variant: 'nothing cached', unit: 'ms' }, times, Math.round),
      { question, variant: 'bytes over the wire', value: Math.round(bytes / 1024), unit: 'KiB' },
      ...(await streaming(browser, service, seconds)),
    ];
  } finally {
    await browser.close();
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Waits until detection and statistics have processed all events, because the service is busy until then. */
async function counted(service: Service): Promise<void> {
  const client = createClient({ baseUrl: service.url, token: await tokenFor(service, 'viewer') });
  for (;;) {
    const { data } = await client.call('getStatus');
    if (data.attributes.store.uncounted_events === 0) return;
    await sleep(1000);
  }
}

async function firstPage(browser: Browser, service: Service): Promise<{ ms: number; bytes: number }> {
  const context = await signedIn(browser, service);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  const trace = await traced(session, async () => {
    await page.goto(`${service.url}/`);
    await page.locator('.overview-big').nth(3).waitFor();
    await page.evaluate(() => performance.mark('figures are there'));
    await sleep(1500);
  });
  await context.close();
  return { ms: usableMs(trace, 'figures are there'), bytes };
}

async function streaming(browser: Browser, service: Service, seconds: number): Promise<BenchRow[]> {
  const row = rowsAbout(`Live events in the console, ${eventsPerSecond.toLocaleString('en')} per second`);
  const context = await signedIn(browser, service);
  const page = await context.newPage();
  await page.goto(`${service.url}/events`);
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  await page.getByText('No network events').waitFor();
  await page.keyboard.press('t');
  const sender = sendSteadily(service);
  await page.locator('.table-row').nth(5).waitFor();
  // Requests every frame, as animations do: the list itself is redrawn only ten times per second.
  await page.evaluate('(function next() { requestAnimationFrame(next); })()');
  const session = await context.newCDPSession(page);
  const trace = await traced(session, () => sleep(seconds * 1000));
  await sender.stop();
  const shown = await heapMiB(page, session);
  await context.close();
  const { perSecond, intervalsMs, dropped } = framesOf(trace);
  return [
    row(
      'frames that the page could draw in',
      Math.round(median(perSecond)),
      'frames/s',
      `in the worst second ${Math.min(...perSecond)}`,
    ),
    row('from one frame to the next, p99', Math.round(10 * quantile(intervalsMs, 0.99)) / 10, 'ms'),
    row('frames that the browser dropped', dropped, 'frames', `in ${seconds} s`),
    row('heap of the page', Math.round(shown), 'MiB'),
  ];
}

async function heapMiB(page: Page, session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const used = await page.evaluate(
    () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
  );
  return used / 2 ** 20;
}

function sendSteadily(service: Service): { stop(): Promise<void> } {
  let isOn = true;
  const sending = (async () => {
    const client = createClient({ baseUrl: service.url, token: await tokenFor(service, 'sensor') });
    const size = eventsPerSecond / bodiesPerSecond;
    const began = performance.now();
    for (let n = 0; isOn; n++) {
      await client.ingest([...connLines(n, size, Date.now())].join('\n'));
      await sleep(Math.max(0, began + ((n + 1) * 1000) / bodiesPerSecond - performance.now()));
    }
  })();
  return {
    async stop() {
      isOn = false;
      await sending;
    },
  };
}

/** Returns a context with the administrator's session, stored as in `src/console/state/session.ts`. */
async function signedIn(browser: Browser, service: Service): Promise<BrowserContext> {
  const { access_token, expires_in, refresh_token, refresh_expires_in } = await createClient({
    baseUrl: service.url,
  }).call('login', { body: { username: 'admin', password: adminPassword } });
  const now = Date.now();
  const kept = {
    access: access_token,
    expiresAt: now + expires_in * 1000,
    refresh: refresh_token,
    refreshExpiresAt: now + refresh_expires_in * 1000,
  };
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript((text) => localStorage.setItem('candor.session', text), JSON.stringify(kept));
  return context;
}

const categories = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
  'blink.user_timing',
  'toplevel',
  'cc',
];

async function traced(session: CDPSession, work: () => Promise<void>): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: categories, recordMode: 'recordAsMuchAsPossible' },
  });
  await work();
  const ended = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await ended;
  return events;
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 5_000_000)));
