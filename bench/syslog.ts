/**
 * How does Candor compare with a syslog daemon that receives the same lines? Zeek conn lines are sent over HTTP to
 * Candor, and over TCP to rsyslog and syslog-ng, which write selected fields, or all fields as JSON, to a file, with or
 * without a flush. Equal work: lines are received on loopback, parsed as JSON and written. Only Candor also has typed
 * columns, an index, detection, statistics, and an acknowledgement after a flush. No connection uses TLS. Rounds
 * alternate, and the load generator shares the machine.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { shippers } from '../scripts/log-shippers.ts';
import { startLoader } from './load/loader.ts';
import { number } from './page.ts';
import { type BenchRow, median, rowOfRounds, rowsAbout } from './result.ts';
import { type Receiver, type Round, startCandor, startSyslog, takeTurns } from './syslog/receivers.ts';

const outputs = [
  { fields: 'selected', flush: false },
  { fields: 'all', flush: false },
  { fields: 'all', flush: true },
] as const;

const rateQuestion = 'Lines per second, from the first byte until the last line is acknowledged or in the file';
const cpuQuestion = 'CPU per line, including background work until the process is idle';

/**
 * Runs the comparison. Takes under three minutes, most of which are pauses until processes are idle.
 *
 * @param bodies - number of bodies of 10,000 lines in each round
 */
export async function run(bodies = 20, rounds = 3, linesPerBody = 10_000): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-syslog-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Signals end the process as an error would, because only then do its exit listeners end the daemons.
  const exit = () => process.exit(1);
  const last = { exit: remove, SIGINT: exit, SIGTERM: exit };
  for (const [event, listener] of Object.entries(last)) process.once(event, listener);
  const loader = startLoader();
  const receivers: Receiver[] = [];
  try {
    const leftOut: BenchRow[] = [];
    receivers.push(await startCandor(join(folder, 'candor'), loader, linesPerBody));
    const unpacked = await unpackedShippers();
    for (const shipper of shippers) {
      try {
        if (unpacked === undefined) throw new Error('its packages are not available');
        for (const output of outputs)
          receivers.push(await startSyslog({ shipper, output, unpacked, folder }, loader, linesPerBody));
      } catch (error) {
        const note = `not measured: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`;
        leftOut.push({ question: rateQuestion, variant: shipper, value: 0, unit: 'lines/s', note });
      }
    }
    const measured = await takeTurns(receivers, bodies, rounds);
    return [
      ...rateRows(measured),
      ...leftOut,
      ...cpuRows(measured),
      ...memoryRows(measured),
      ...(await sizeRows(measured)),
    ];
  } finally {
    await Promise.allSettled(receivers.map((receiver) => receiver.stop()));
    await loader.stop();
    remove();
    for (const [event, listener] of Object.entries(last)) process.off(event, listener);
  }
}

/** Returns the folder with the daemons, which the script fetches on first use; undefined if they are not available. */
async function unpackedShippers(): Promise<string | undefined> {
  const script = new URL('../scripts/with-log-shippers.sh', import.meta.url).pathname;
  try {
    return (await promisify(execFile)(script, ['printenv', 'LOG_SHIPPERS'])).stdout.trim();
  } catch {
    return undefined;
  }
}

type Measured = ReadonlyMap<Receiver, readonly Round[]>;

function rateRows(measured: Measured): BenchRow[] {
  const row = { question: rateQuestion, unit: 'lines/s' };
  const rate = ({ lines, writtenS }: Round) => lines / writtenS;
  const rows: BenchRow[] = [];
  for (const [{ name, note }, rounds] of measured) {
    rows.push(rowOfRounds({ ...row, variant: name, note }, rounds.map(rate), Math.round));
    const counted = rounds.flatMap(({ lines, countedS }) => (countedS === undefined ? [] : lines / countedS));
    if (counted.length > 0)
      rows.push(rowOfRounds({ ...row, variant: `${name}, until detected on and counted` }, counted, Math.round));
  }
  // Acknowledgements can be ahead of detection and statistics for a few seconds only.
  const lasting = ({ lines, writtenS, countedS = writtenS }: Round) => lines / countedS;
  return [...rows, ...ratioRows(rateQuestion, measured, lasting, 'candor, until detected on and counted')];
}

function cpuRows(measured: Measured): BenchRow[] {
  const cpu = ({ lines, cpuS }: Round) => (cpuS / lines) * 1e6;
  const rows = [...measured].map(([{ name }, rounds]) => {
    const loader = median(rounds.map(({ lines, loaderCpuS }) => (loaderCpuS / lines) * 1e6));
    const note = `and ${number(loader)} in the load generator`;
    return rowOfRounds({ question: cpuQuestion, variant: name, unit: 'µs', note }, rounds.map(cpu));
  });
  return [...rows, ...ratioRows(cpuQuestion, measured, cpu)];
}

/** Returns rows for Candor's figure divided by the figures of the daemons in the same round. */
function ratioRows(question: string, measured: Measured, figure: (round: Round) => number, of?: string): BenchRow[] {
  const [[candor, ours], ...daemons] = [...measured] as [
    [Receiver, readonly Round[]],
    ...[Receiver, readonly Round[]][],
  ];
  return daemons.map(([{ name }, theirs]) => {
    const ratios = ours.map((round, at) => figure(round) / figure(theirs[at]!));
    return rowOfRounds({ question, variant: `${of ?? candor.name} ÷ ${name}`, unit: '×' }, ratios);
  });
}

function memoryRows(measured: Measured): BenchRow[] {
  const row = rowsAbout('Anonymous memory under this load');
  return [...measured].map(([{ name }, rounds]) => {
    const peak = Math.max(...rounds.map(({ peakRssAnonMiB }) => peakRssAnonMiB));
    return row(name, Math.round(peak), 'MiB RssAnon, peak');
  });
}

async function sizeRows(measured: Measured): Promise<BenchRow[]> {
  const row = rowsAbout('Bytes on disk of a line');
  const rows: BenchRow[] = [];
  for (const receiver of measured.keys())
    for (const [of, bytes] of await receiver.bytesPerLine())
      rows.push(row(receiver.name + (of && `: ${of}`), bytes, 'bytes'));
  return rows;
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 3)));
