/** Starts the service as a user would, in a separate process: for the demo, the system tests and the benchmarks. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Service {
  readonly url: string;
  readonly dataDir: string;
  /** The process that holds the sockets and the memory. */
  readonly pid: number;
  /** Log records and banner lines so far, oldest first. */
  readonly output: readonly string[];
  /**
   * Returns the largest anonymous resident memory so far, in MiB (without mapped files); 0 on systems other than Linux.
   */
  peakRssAnonMiB(): number;
  /** Sends SIGTERM, and returns the exit code. Removes a data folder that was created for the service. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Resolves with the exit code when the process ends for any reason. */
  readonly ended: Promise<number | null>;
}

export const adminPassword = 'correct horse battery staple';
const root = new URL('..', import.meta.url).pathname;
/** The flags of the launcher, which is skipped here. */
const flags = ['--max-semi-space-size=4', '--disable-warning=ExperimentalWarning'];

export interface ServiceOptions {
  /** The data folder. Default: a new temporary folder, removed by `stop`. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Command put before the service's command, such as a tracer. */
  readonly wrapper?: readonly string[];
}

/** Starts the service. Resolves once the service logs that it listens; rejects with its output if it ends before. */
export function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'candor-'));
  // Starts without the launcher, which would forward a Ctrl-C that the terminal has already sent to all processes.
  const start = [...flags, join(root, 'src/cli/main.ts'), 'start'];
  const [command = process.execPath, ...before] = options.wrapper ?? [];
  const child = spawn(command, options.wrapper ? [...before, process.execPath, ...start] : start, {
    cwd: root,
    env: {
      // The value that the launcher, which is skipped here, would set.
      MALLOC_MMAP_THRESHOLD_: String(64 * 1024),
      ...process.env,
      CANDOR_DATA_DIR: dataDir,
      CANDOR_HOST: '127.0.0.1',
      CANDOR_PORT: '0',
      CANDOR_ADMIN_PASSWORD: adminPassword,
      // All clients have one address, which must not limit the measured throughput.
      CANDOR_LIMITS_REQUESTS_PER_S_PER_ADDRESS: '0',
      CANDOR_LIMITS_REQUESTS_PER_S_PER_PRINCIPAL: '0',
      CANDOR_LIMITS_LOG_READS_PER_S_PER_ADDRESS: '0',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return whenListening(child, dataDir, options.dataDir === undefined);
}

/** Starts any other server that logs `{"msg":"listening","port":…}`, for comparison with the service. */
export function startScript(script: string, args: readonly string[], dataDir: string): Promise<Service> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, script), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return whenListening(child, dataDir, true);
}

function whenListening(child: ChildProcess, dataDir: string, temporary: boolean): Promise<Service> {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('the process has no output to read');
  const output: string[] = [];
  let peak = 0;
  /** The child may be a launcher or a tracer: the service logs its own process id. */
  let pid = child.pid ?? 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, rssAnonMiB(pid));
  }, 100);
  // If this process fails, the service must end too.
  const takeAlong = () => child.kill();
  process.once('exit', takeAlong);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      process.off('exit', takeAlong);
      clearInterval(sampler);
      resolve(code);
    });
  });
  createInterface({ input: stderr }).on('line', (line) => output.push(line));
  return new Promise((resolve, reject) => {
    void ended.then((code) => reject(new Error(`the service ended with ${code}:\n${output.join('\n')}`)));
    createInterface({ input: stdout }).on('line', (line) => {
      output.push(line);
      const record = line.startsWith('{')
        ? (JSON.parse(line) as { msg?: string; url?: string; port?: number; pid?: number })
        : {};
      if (!record.msg?.includes('listening')) return;
      pid = record.pid ?? pid;
      resolve({
        url: record.url ?? `http://127.0.0.1:${record.port}`,
        dataDir,
        pid,
        output,
        ended,
        peakRssAnonMiB: () => peak,
        async stop() {
          process.kill(pid, 'SIGTERM');
          const code = await ended;
          if (temporary) rmSync(dataDir, { recursive: true, force: true });
          return code;
        },
        async kill() {
          process.kill(pid, 'SIGKILL');
          await ended;
        },
      });
    });
  });
}

export function rssAnonMiB(pid: number): number {
  try {
    const kib = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? 0 : Number(kib) / 1024;
  } catch {
    return 0;
  }
}

/** Logs in as the administrator, and returns the access token. */
export async function login(service: Pick<Service, 'url'>): Promise<string> {
  const answer = await postJson(service, '/auth/login', { username: 'admin', password: adminPassword });
  return (answer as { access_token: string }).access_token;
}

/** Creates a long-lived token with the given role. */
export async function tokenFor(
  service: Pick<Service, 'url'>,
  role: 'sensor' | 'viewer' | 'analyst' | 'auditor',
): Promise<string> {
  const body = { name: `${role} ${crypto.randomUUID().slice(0, 8)}`, scopes: [role] };
  const answer = await postJson(service, '/api/v1/tokens', body, await login(service));
  return (answer as { data: { attributes: { token: string } } }).data.attributes.token;
}

async function postJson(service: Pick<Service, 'url'>, path: string, body: unknown, token?: string): Promise<unknown> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
