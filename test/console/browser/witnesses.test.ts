/** Running witnesses: their cosignatures are verified in the browser, and failures are shown per witness. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, startScript } from '../../../scripts/service.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { sizeContentType } from '../../../src/witness/add-checkpoint.ts';
import { candor } from '../../cli/candor.ts';
import { entry } from '../../ledger/fixture-entry.ts';
import { rogueServer } from '../../witness/rogue-witness.ts';
import { type Opened, openConsole, overflow, phone, settled, violations } from './console.ts';

/** Timeout for steps that can take long on a busy machine. */
const soon = { timeout: 60_000 };
const path = '/transparency?part=checkpoint';
const keyOf = ({ output }: Service): string => output.find((line) => line.includes('+')) ?? '';

let open: Opened;
let folder: string;
/** Verifier key of the log's checkpoints. */
let vkey: string;
/** A correct witness, and a witness that signs with a key other than its key in the policy. */
let good: Service;
let other: Service;
/** A witness that claims to have cosigned a larger tree. */
let ahead: Awaited<ReturnType<typeof rogueServer>>;

const startWitness = (name: string, ...args: string[]): Promise<Service> =>
  startScript(
    'src/cli/main.ts',
    ['witness', '--state', join(folder, name), '--name', `${name}.example/w`, '--log', vkey, ...args],
    // `stop()` deletes this folder, so it must not be the state folder.
    mkdtempSync(join(folder, 'scratch-')),
  );

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candor-console-'));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const origin = 'log.example/console';
  // The first start creates the log's key.
  const then = Date.now() - 100 * 86_400_000;
  const ledger = await openLedger({ dataDir, origin, clock: () => BigInt(then) * 1_000_000n });
  vkey = (await ledger.status()).checkpoint_vkey;
  // A service that starts now detects a clock jump.
  await ledger.append([entry(0, undefined, then)]);
  await ledger.close();

  good = await startWitness('good');
  other = await startWitness('other');
  const show = ['witness', '--state', join(folder, 'absent'), '--name', 'absent.example/w', '--show-key'];
  const absent = (await candor(...show)).stdout.trim();
  ahead = await rogueServer((response) =>
    response.writeHead(409, { 'content-type': sizeContentType }).end('1000000\n'),
  );
  const policy = join(folder, 'policy');
  // For `other`, the policy has the key of a different witness, which never runs.
  const forOther = (
    await candor('witness', '--state', join(folder, 'stand-in'), '--name', 'other.example/w', '--show-key')
  ).stdout.trim();
  const lines = [
    `witness good ${keyOf(good)} ${good.url}`,
    `witness absent ${absent} http://127.0.0.1:1`,
    `witness other ${forOther} ${other.url}`,
    `witness ahead ${ahead.vkey} ${ahead.url}`,
    'group enough 1 good absent other ahead',
    'quorum enough',
  ];
  writeFileSync(policy, `${lines.join('\n')}\n`);
  open = await openConsole({
    dataDir,
    env: {
      CANDOR_LEDGER_ORIGIN: origin,
      CANDOR_WITNESS_POLICY: policy,
      CANDOR_WITNESS_INTERVAL_MS: '100',
      CANDOR_WITNESS_WAIT_MS: '500',
    },
    data: async (service) => {
      for (let n = 0; n < 5; n++) await login(service);
    },
  });
});
afterAll(async () => {
  await Promise.all([good, other].map((one) => one.kill().catch(() => undefined)));
  ahead.close();
  await open.close();
  rmSync(folder, { recursive: true, force: true });
});

const witness = (page: Page, name: string) =>
  page
    .getByRole('region', { name: 'Witnesses' })
    .getByRole('listitem')
    .filter({ has: page.locator('.check-title').getByText(name, { exact: true }) });
const checkpoint = (page: Page) => page.getByRole('heading', { name: /^Checkpoint at [\d,]+ entries/ });

test('the service accepts log entries again after an administrator confirms the clock', async () => {
  const page = await open.page({ path: '/status' });
  const log = page.getByRole('region', { name: 'Transparency log' });
  await log.getByText('Not accepting entries: Clock').waitFor(soon);
  await log.getByRole('button', { name: 'Confirm clock' }).click();
  const dialog = page.getByRole('dialog', { name: 'Confirm the host clock?' });
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.getByText('Clock confirmed.').waitFor(soon);
  await log.getByText('Accepting entries').waitFor(soon);
  expect(await log.getByRole('button', { name: 'Confirm clock' }).count()).toBe(0);
});

test("the console verifies cosignatures with the policy's keys, and shows why other cosignatures fail", async () => {
  const page = await open.page({ path });
  await witness(page, 'good').getByText('Cosignature verified in your browser').waitFor(soon);
  await witness(page, 'good').getByText('Verifier key').click();
  await witness(page, 'good').getByText(keyOf(good)).waitFor(soon);
  await witness(page, 'absent').getByText('It could not be reached.').waitFor(soon);
  await witness(page, 'absent').getByText('This checkpoint is not cosigned by this witness.').waitFor();
  await witness(page, 'other').getByText('It sent a signature that does not verify with its key.').waitFor(soon);
  await page.getByRole('heading', { name: 'Witnesses: 1 of 4 cosigned' }).waitFor();
  await page.getByText('The service reports that the quorum is met.').waitFor();
  await page.getByText('Consistent with this browser’s pin', { exact: true }).waitFor(soon);
  expect(await violations(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await page.setViewportSize({ width: phone, height: 800 });
  expect(await overflow(page)).toBe(0);
  expect(await violations(page)).toEqual([]);
});

test('the console updates the checkpoint when a new checkpoint is published', async () => {
  const page = await open.page({ path });
  await checkpoint(page).waitFor(soon);
  const before = await checkpoint(page).innerText();
  await login(open.service);
  await expect.poll(() => checkpoint(page).innerText(), { timeout: 60_000 }).not.toBe(before);
  await witness(page, 'good').getByText('Cosignature verified in your browser').waitFor(soon);
});

test('the console lists signers as unverified without signing in', async () => {
  const page = await open.page({ path, signedOut: true });
  await witness(page, 'good.example/w').getByText('This signer’s key is not known here').waitFor(soon);
  expect(await page.getByText('Cosignature verified').count()).toBe(0);
  expect(await violations(page)).toEqual([]);
});

test('the console rejects an altered cosignature, but not the checkpoint', async () => {
  const page = await open.page({ path: '/overview' });
  await page.route('**/checkpoint', async (route) => {
    const answer = await route.fetch();
    const note = await answer.text();
    const body = note.replace(
      /^(— good\.example\/w \S{40})(.)/m,
      (_, head: string, one: string) => `${head}${one === 'A' ? 'B' : 'A'}`,
    );
    expect(body).not.toBe(note);
    await route.fulfill({ response: answer, body });
  });
  await page.goto(path);
  await witness(page, 'good').getByText('BAD_COSIGNATURE').waitFor(soon);
  await page.getByRole('heading', { name: 'Witnesses: 0 of 4 cosigned' }).waitFor();
  await page.getByText('Signed by the log’s checkpoint key, verified in this browser').waitFor();
  expect(await violations(page)).toEqual([]);
  // The page must stay open while it fetches the checkpoint.
  await page.unrouteAll({ behavior: 'wait' });
});

test('the console keeps the cosigned checkpoint and shows the pending checkpoint while the witness is down', async () => {
  const page = await open.page({ path });
  await settled(page);
  await checkpoint(page).waitFor(soon);
  const { host } = new URL(good.url);
  await good.kill();
  const before = await checkpoint(page).innerText();
  await login(open.service);
  await witness(page, 'good').getByText('It could not be reached.').waitFor({ timeout: 60_000 });
  await witness(page, 'good').getByText('Cosignature verified in your browser').waitFor();
  await page.getByText(/A newer checkpoint, at [\d,]+ entries, is waiting for cosignatures\.$/).waitFor(soon);
  expect(await checkpoint(page).innerText()).toBe(before);
  expect(await violations(page)).toEqual([]);

  good = await startWitness('good', '--listen', host);
  await expect.poll(() => checkpoint(page).innerText(), { timeout: 60_000 }).not.toBe(before);
  // Both are checked in one step, because the text disappears briefly on a redraw.
  await witness(page, 'good')
    .filter({
      hasText: 'Cosignature verified in your browser',
      hasNotText: 'It could not be reached.',
    })
    .waitFor({ timeout: 60_000 });
});

test('the console describes each witness on the status page', async () => {
  const page = await open.page({ path: '/status' });
  const log = page.getByRole('region', { name: 'Transparency log' });
  await log.getByText('; it could not be reached').first().waitFor(soon);
  await log.getByText('; it sent a signature that does not verify with its key').waitFor(soon);
  const row = log.getByRole('listitem').filter({ hasText: 'ahead' });
  await row.getByText('; it has cosigned a larger tree than the current one').waitFor(soon);
  await row.getByText(/Reports a rollback since/).waitFor();
  const finding = log.getByRole('paragraph').filter({ hasText: 'Witness rollback since' });
  await finding.getByText(/witness ahead .* 1000000 entries/).waitFor();
  expect(await violations(page)).toEqual([]);
});
