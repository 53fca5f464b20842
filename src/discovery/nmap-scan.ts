import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { limits } from '../limits.ts';
import { printPorts } from '../net/scan-ports.ts';
import { addressesOf } from '../net/scan-targets.ts';
import { NmapReport } from './nmap-report.ts';
import { safeText } from './safe-text.ts';
import type { ScanResults } from './scan-results.ts';
import type { ScanJob } from './scanner.ts';

/** Maximum bytes of nmap's standard error that are kept for the error message of a failed scan. */
const maxErrorBytes = 4096;

/**
 * Runs nmap, once for IPv4 and once for IPv6. The arguments are safe: addresses are passed on standard input,
 * ports and rate are validated, and no shell is used.
 */
export class NmapScan {
  readonly #job: ScanJob;
  readonly #findings: ScanResults;
  readonly #maxOutputBytes: number;
  #child: ChildProcess | undefined;
  #cancelled = false;

  /** @param job - must contain the path of nmap */
  constructor(job: ScanJob, findings: ScanResults, maxOutputBytes: number = limits.maxNmapOutputBytes) {
    this.#maxOutputBytes = maxOutputBytes;
    this.#job = job;
    this.#findings = findings;
  }

  /** Resolves when nmap has ended. Rejects if it cannot be started, fails, or prints an invalid report. */
  async run(): Promise<void> {
    const addresses = [...addressesOf(this.#job.spans)];
    const v6 = addresses.filter((address) => address.includes(':'));
    const v4 = addresses.filter((address) => !address.includes(':'));
    if (v4.length > 0) await this.#runOnce(v4, []);
    if (v6.length > 0) await this.#runOnce(v6, ['-6']);
  }

  /** Kills nmap; `run` resolves when it has ended. */
  cancel(): void {
    this.#cancelled = true;
    this.#child?.kill('SIGKILL');
  }

  async #runOnce(addresses: readonly string[], more: readonly string[]): Promise<void> {
    if (this.#cancelled) return;
    const { nmap, ports, rate } = this.#job;
    if (nmap === undefined) throw new Error('the nmap path is missing');
    const child = spawn(nmap, [...nmapArguments(ports, rate), ...more], {
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      cwd: '/',
      env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' },
    });
    this.#child = child;
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(code === 0 ? '' : `it ended with ${signal ?? code}`));
    });
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-maxErrorBytes);
    });
    // If nmap ends before it reads all addresses, its exit status reports the error.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${addresses.join('\n')}\n`);
    try {
      const before = this.#findings.counts.hosts_done;
      const report = this.#report();
      await this.#read(child, report);
      const problem = await ended;
      if (this.#cancelled) return;
      if (problem !== '' || report.exit?.success !== true)
        throw new Error(safeText(`nmap failed: ${report.exit?.message ?? ''} ${problem} ${complaint}`, 300));
      report.end();
      // Hosts that are down are not in the report.
      this.#visited(Math.max(0, before + addresses.length - this.#findings.counts.hosts_done));
    } catch (error) {
      child.kill('SIGKILL');
      await ended;
      if (!this.#cancelled) throw error;
    } finally {
      this.#child = undefined;
    }
  }

  #report(): NmapReport {
    const { counts } = this.#findings;
    return new NmapReport(
      {
        host: (host, skipped) => {
          counts.hosts_up++;
          counts.services_found += host.services.length + skipped;
          counts.services_skipped += skipped;
          this.#findings.add(host);
        },
        hostDone: () => this.#visited(1),
      },
      Date.now,
    );
  }

  #visited(hosts: number): void {
    this.#findings.counts.hosts_done += hosts;
    this.#findings.counts.probes_done += hosts * this.#job.ports.length;
  }

  async #read({ stdout }: ChildProcess, report: NmapReport): Promise<void> {
    if (stdout === null) throw new Error('cannot read the nmap output: stdout is not a pipe');
    const decoder = new StringDecoder('utf8');
    let bytes = 0;
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > this.#maxOutputBytes) throw new TooMuchOutput(`nmap printed more than ${this.#maxOutputBytes} bytes`);
      report.push(decoder.write(chunk));
      await this.#findings.room();
    }
  }
}

/** Thrown if the output exceeds limits.maxNmapOutputBytes. */
export class TooMuchOutput extends Error {}

/**
 * Returns the arguments of nmap: service and version detection, operating system detection if nmap can send raw packets
 * (as root), and XML on standard output. Only numbers come from a request.
 */
export function nmapArguments(ports: readonly number[], rate: number, isRoot = process.getuid?.() === 0): string[] {
  return [
    ...['-oX', '-', '-iL', '-'],
    ...['-p', printPorts(ports)],
    ...['--max-rate', String(rate), '--max-retries', '2'],
    ...['-sV', '--version-light'],
    ...(isRoot ? ['-O', '--osscan-limit'] : []),
    '--noninteractive',
  ];
}
