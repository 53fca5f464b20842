/**
 * The log in the browser: verification and rejection. The command line has the same results for downloaded
 * files.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, tokenFor } from '../../../scripts/service.ts';
import { continueCopy } from '../../../src/ledger/lives/continue-copy.ts';
import { exitCodes } from '../../../src/service/exit-codes.ts';
import { candor } from '../../cli/candor.ts';
import { rewrite } from '../../client/insider.ts';
import { ServedLog } from '../../client/served-log.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

let open: Opened;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candor-console-'));
  open = await openConsole({
    data: async (service) => {
      for (let i = 0; i < 9; i++) await login(service);
    },
  });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await open.close();
});

const verified = 'Verified in your browser, not by the server';

/** Clicks a download button and saves the file under a name. */
async function saved(page: Page, button: string, name: string): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).first().click();
  const path = join(folder, name);
  await (await download).saveAs(path);
  return path;
}

const sizeOf = async (page: Page): Promise<number> => {
  const answer = await page.request.get('/api/transparency/sth');
  return ((await answer.json()) as { tree_size: number }).tree_size;
};

describe('a proof', () => {
  test('is verified, fails with a changed character, and is valid again when restored', async () => {
    const page = await open.page({ path: '/transparency?view=proof&index=3' });
    await page.getByText(verified).waitFor();
    const steps = page.getByRole('list', { name: 'Steps from the leaf to the root' });
    const good = await steps.locator('.path-step-good').count();
    expect(good).toBeGreaterThan(3);
    await page.keyboard.press('t');
    await page.getByText('these are not the logged bytes').waitFor();
    expect(await steps.locator('.path-step-bad').count()).toBe(good);
    expect(await page.locator('.entry-changed').textContent()).toHaveLength(1);
    await page.getByText('NOT_INCLUDED').waitFor();
    await page.getByText('BAD_ENTRY_SIGNATURE').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText(verified).waitFor();
    expect(await steps.locator('.path-step-bad').count()).toBe(0);
  });

  test('fails after any edit of the bytes', async () => {
    const page = await open.page({ path: '/transparency?view=proof&index=0' });
    await page.getByRole('button', { name: 'Edit bytes' }).click();
    const bytes = page.getByLabel('Entry bytes as text');
    await bytes.press('End');
    await bytes.press('Space');
    await page.getByText('these are not the logged bytes').waitFor();
    await page.getByText('NOT_CANONICAL').first().waitFor();
  });

  test('is shown step by step with the keys j and k, and the proof of the next entry with ]', async () => {
    const page = await open.page({ path: '/transparency?view=proof&index=5' });
    await page.getByText(verified).waitFor();
    await page.keyboard.press('k');
    await page.getByText(/^Stopped after/).waitFor();
    expect(await page.locator('.path-step-current').count()).toBe(1);
    await page.keyboard.press('j');
    await page.getByText(verified).waitFor();
    await page.keyboard.press(']');
    await page.waitForURL(/index=6/);
    await page.getByRole('heading', { name: 'Entry 6' }).waitFor();
  });

  test('is verified by the command line and the browser from the downloaded file', async () => {
    const page = await open.page({ path: '/transparency?view=proof&index=2' });
    await page.getByText(verified).waitFor();
    const file = await saved(page, 'Download proof', 'proof.json');
    expect(await candor('verify', file, '--json')).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'ok', leaf_index: 2 },
    });
    await page.goto('/transparency?view=verify');
    await page.getByLabel('File to verify').setInputFiles(file);
    await page.getByText(verified).waitFor();
    await page.getByText('the keys in the file were not used').waitFor();
    await page.getByRole('button', { name: 'Keys in the file' }).click();
    await page.getByText('Verified with the keys in the file').waitFor();
  });

  test('is found by entry id and leaf hash; unknown and invalid ids are reported', async () => {
    const page = await open.page({ path: '/transparency?part=entries' });
    await page.getByRole('row').nth(1).click();
    await page.getByRole('link', { name: 'View proof' }).waitFor();
    const id = new URL(page.url()).searchParams.get('id')!;
    const hash = await page.locator('.detail .hash-whole').first().getAttribute('title');
    for (const asked of [id, hash]) {
      await page.goto(`/transparency?view=proof&id=${asked}`);
      await page.getByText(verified).waitFor();
    }
    await page.goto(`/transparency?view=proof&id=${crypto.randomUUID()}`);
    await page.getByText('Entry not found').waitFor();
    await page.goto('/transparency?view=proof&id=nonsense');
    await page.getByText('Not a valid entry').waitFor();
  });
});

describe('a file', () => {
  test('is rejected if it is altered, too large or malformed', async () => {
    const page = await open.page({ path: '/transparency?view=proof&index=1' });
    await page.getByText(verified).waitFor();
    const good = readFileSync(await saved(page, 'Download proof', 'good.json'), 'utf8');
    const bundle = JSON.parse(good) as { audit_path: string[] };
    const other = `${bundle.audit_path[0]!.startsWith('0') ? '1' : '0'}${bundle.audit_path[0]!.slice(1)}`;
    const cases = [
      [good.replace(bundle.audit_path[0]!, other), 'NOT_INCLUDED'],
      [good.replace(/"timestamp_ns":\d+/, '"timestamp_ns":1024'), 'BAD_SIGNATURE'],
      [good.replace('"audit_path":[', '"audit_path":["00",'), 'MALFORMED_PROOF'],
      ['{"leaf_index":', 'MALFORMED_BUNDLE'],
      [Buffer.from([0xff, 0xfe, 0]), 'MALFORMED_BUNDLE'],
      [' '.repeat(32 * 2 ** 20 + 1), 'MALFORMED_BUNDLE'],
    ] as const;
    for (const [content, code] of cases) {
      const path = join(folder, 'tampered.json');
      writeFileSync(path, content);
      await page.goto('/transparency?view=verify');
      await page.getByLabel('File to verify').setInputFiles(path);
      await page.getByText('Verification failed').waitFor();
      await page.locator('.fault', { hasText: code }).first().waitFor();
    }
    await page.getByText(/^All verification errors/).click();
    expect(await page.locator('.reasons dt').count()).toBeGreaterThan(40);
  });
});

describe('the pin', () => {
  test('is updated as the log grows, audited by the command line after export, and imported again', async () => {
    const page = await open.page({ path: '/transparency?view=consistency' });
    await page.getByText('First pinned').waitFor();
    const before = await sizeOf(page);
    await login(open.service);
    await page.getByRole('button', { name: 'Check and pin now' }).click();
    await page.getByText(/The log is append-only/).waitFor();
    await expect.poll(() => page.locator('.pin-history li').count(), { timeout: 60_000 }).toBeGreaterThan(1);
    const file = await saved(page, 'Export', 'pin.json');
    const audited = await candor('audit', open.service.url, '--state', file, '--json');
    expect(audited).toMatchObject({ code: exitCodes.ok });
    expect((JSON.parse(readFileSync(file, 'utf8')) as { head: { tree_size: number } }).head.tree_size).toBeGreaterThan(
      before,
    );
    await page.getByRole('button', { name: 'Import…' }).click();
    await page.getByLabel('Pin file').setInputFiles(file);
    await page.getByRole('button', { name: 'Import and check' }).click();
    await page.getByText(/The log extends the imported pin/).waitFor();
  });

  test('is not changed by importing a malformed pin, or a pin of another log', async () => {
    const page = await open.page({ path: '/transparency?view=consistency' });
    const file = await saved(page, 'Export', 'other.json');
    const kept = await page.evaluate(() => localStorage.getItem('candor.pin'));
    const text = readFileSync(file, 'utf8');
    for (const [content, code] of [
      [text.replace(open.service.url, 'http://other.example'), 'OTHER_LOG'],
      [text.replace(/"tree_size":\d+/, '"tree_size":1'), 'MALFORMED_PIN'],
      ['{}', 'MALFORMED_PIN'],
    ] as const) {
      writeFileSync(file, content);
      await page.getByRole('button', { name: 'Import…' }).click();
      await page.getByLabel('Pin file').setInputFiles(file);
      await page.getByRole('button', { name: 'Import and check' }).click();
      await page.getByRole('dialog').getByText(code).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
    }
    const now = await page.evaluate(() => localStorage.getItem('candor.pin'));
    interface Pin {
      readonly log: string;
      readonly head: { readonly tree_size: number };
    }
    const [before, after] = [JSON.parse(kept!) as Pin, JSON.parse(now!) as Pin];
    expect(after.log).toBe(before.log);
    // An automatic check may have updated the pin, but never to a smaller size.
    expect(after.head.tree_size).toBeGreaterThanOrEqual(before.head.tree_size);
  });

  test('is kept if the reset is cancelled, and replaced if it is confirmed', async () => {
    const page = await open.page({ path: '/transparency?view=consistency' });
    const pinnedAt = () =>
      page.evaluate(() => (JSON.parse(localStorage.getItem('candor.pin')!) as { pinned_at: string }).pinned_at);
    await page.getByText('First pinned').waitFor();
    // The comparison above the buttons moves them when it appears.
    await settled(page);
    const before = await pinnedAt();
    await page.getByRole('button', { name: 'Reset pin' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await pinnedAt()).toBe(before);
    await page.getByRole('button', { name: 'Reset pin' }).click();
    await page.getByRole('button', { name: 'Discard pin' }).click();
    await page.getByText(/Pin reset at size/).waitFor();
    expect(await pinnedAt()).not.toBe(before);
  });
});

/** Makes the page read and pin this log instead of the service's log. */
async function pinOther(page: Page, log: ServedLog): Promise<void> {
  await page.route(
    (url) => /^\/(api\/transparency|tile|checkpoint|\.well-known)/.test(url.pathname),
    async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const answer = await fetch(log.url + pathname + search);
      await route.fulfill({ status: answer.status, body: Buffer.from(await answer.arrayBuffer()) });
    },
  );
  await page.goto('/transparency?view=consistency');
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await page.getByText('First pinned').waitFor();
}

describe('a log under a new key', () => {
  test('is not reported as broken after a restore or a revocation, and is verified again once the key is confirmed', async () => {
    const log = await ServedLog.start();
    const page = await open.page({ signedOut: true, path: '/docs' });
    const pinnedSize = async () => {
      const pin = await page.evaluate(() => localStorage.getItem('candor.pin'));
      return (JSON.parse(pin!) as { head: { tree_size: number } }).head.tree_size;
    };
    const confirm = async (title: string, code: string) => {
      const before = await pinnedSize();
      await page.getByRole('button', { name: 'Check and pin now' }).click();
      const banner = page.getByRole('region', { name: title });
      await banner.getByText(code).waitFor();
      await page.getByRole('link', { name: 'Log key not confirmed' }).waitFor();
      expect(await page.locator('.broken-log, .status-broken').count()).toBe(0);
      expect(await pinnedSize()).toBe(before);
      const { sth_key_fingerprint: fingerprint } = await log.ledger.status();
      await banner.getByRole('button', { name: `Fingerprint ${fingerprint}` }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Confirm key…' }).click();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'The fingerprints match' }).click();
      await page.getByText(/Key confirmed; pinned at size/).waitFor();
      await banner.waitFor({ state: 'detached' });
      await page.locator('.status-line .status-good', { hasText: '✓' }).waitFor();
    };
    try {
      await log.append(7);
      const backup = await log.snapshot();
      await log.append(5);
      await pinOther(page, log);
      await log.restore(backup);
      await log.tamper((dataDir) => continueCopy({ dataDir }).then(() => undefined));
      await confirm('The log continues under a new key', 'NEW_LIFE');
      expect(await pinnedSize()).toBe(8);
      await log.ledger.revokeKey((await log.ledger.head()).signer_key_id, 'stolen', 'system');
      await confirm('The log uses an unknown key', 'UNVOUCHED_KEY');
    } finally {
      await page.context().close();
      await log.close();
    }
  });
});

describe('a log that contradicts itself', () => {
  test('is shown as broken, with evidence that the command line and the browser find conclusive', async () => {
    const log = await ServedLog.start();
    const page = await open.page({ signedOut: true, path: '/docs' });
    try {
      await log.append(7);
      await pinOther(page, log);
      await log.tamper((path) =>
        rewrite(path, (entries) => {
          entries.splice(2, 1);
        }),
      );
      log.now += 1000;
      await log.append(5);
      await page.getByRole('button', { name: 'Check and pin now' }).click();
      await page.getByRole('heading', { name: 'The log contradicts an earlier signed tree head' }).waitFor();
      await page.locator('.status-broken').waitFor();
      expect(await violations(page)).toEqual([]);
      const evidence = await saved(page, 'Download evidence', 'evidence.json');
      expect(await candor('verify', evidence, '--json')).toMatchObject({
        code: exitCodes.misbehaviour,
        json: { status: 'convicts' },
      });
      // The pin is unchanged.
      const pin = await page.evaluate(() => localStorage.getItem('candor.pin'));
      expect((JSON.parse(pin!) as { head: { tree_size: number } }).head.tree_size).toBe(7);
      await page.goto('/transparency?view=verify');
      await page.getByLabel('File to verify').setInputFiles(evidence);
      await page.getByText('Conclusive evidence against the holder of these keys').waitFor();
    } finally {
      await page.context().close();
      await log.close();
    }
  });
});

describe('the log', () => {
  test('counts new entries, and shows them on demand', async () => {
    const page = await open.page({ path: '/transparency' });
    const first = page.getByRole('row').nth(1);
    await first.waitFor();
    await settled(page);
    const index = await first.getByRole('gridcell').nth(1).textContent();
    await tokenFor(open.service, 'viewer');
    await page.getByRole('button', { name: /\d+ new/ }).waitFor();
    expect(await first.getByRole('gridcell').nth(1).textContent()).toBe(index);
    await page.keyboard.press('.');
    await page.waitForFunction(
      (was) => document.querySelectorAll('[role=row]')[1]?.querySelectorAll('[role=gridcell]')[1]?.textContent !== was,
      index,
    );
    expect(await page.getByRole('button', { name: /\d+ new/ }).count()).toBe(0);
  });

  test('filters entries by kind', async () => {
    const page = await open.page({ path: '/transparency?kind=principal.provisioned' });
    await page.getByText('No entries of these kinds').waitFor();
    await page.getByRole('button', { name: 'Remove filter: principal.provisioned' }).click();
    await page.getByRole('row').nth(1).waitFor();
  });

  test('shows heads, paths and keys, but no entries, without signing in', async () => {
    const page = await open.page({ path: '/transparency?view=proof&index=4', signedOut: true });
    await page.getByText(verified).waitFor();
    await page.getByText('Reading the bytes requires a role').waitFor();
    await page.goto('/transparency');
    await page.getByText('Log entries name hosts and users').waitFor();
    await page.goto('/transparency?part=heads');
    await page.getByRole('row').nth(1).waitFor();
    expect(await page.locator('.tick-bad').count()).toBe(0);
    await page.goto('/transparency?part=keys');
    await page.getByRole('row', { name: /transparency-sth/ }).waitFor();
  });
});

describe.each([
  { theme: 'dark', width: 1280 },
  { theme: 'light', width: phone },
] as const)('the transparency page in the $theme theme at $width pixels', ({ theme, width }) => {
  test.each([
    '?part=heads',
    '?part=keys',
    '?part=checkpoint',
    '?view=proof&index=3',
    '?view=verify',
    '?view=consistency&first=3&second=8',
  ])('has no overflow or accessibility violations: %s', async (view) => {
    const page = await open.page({ theme, width, path: `/transparency${view}` });
    await settled(page);
    await page.waitForTimeout(500);
    expect(await overflow(page)).toBe(0);
    expect(await violations(page)).toEqual([]);
  });
});
