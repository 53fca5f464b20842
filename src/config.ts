import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parse } from 'yaml';

/** A value that a setting cannot take. `wanted` completes the sentence "came …, wanted …". */
class Unwanted extends Error {}

/** Turns what a file or the environment holds into the setting's value, or throws `Unwanted`. */
type Read<T> = (raw: unknown) => T;

interface Setting<T> {
  readonly read: Read<T>;
  readonly default: T;
  /** Why it exists and why the default is what it is. */
  readonly reason: string;
  /** Never repeated in a message. */
  readonly secret?: true;
}

const MiB = 2 ** 20;
const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;
const cores = availableParallelism();

/**
 * Every setting: its dotted name in the configuration file. The environment variable of `alerts.window_ms` is
 * CANDOR_ALERTS_WINDOW_MS, and so on; the environment wins over the file, the file over the default.
 */
export const settings = {
  host: setting(text(1, 255), '127.0.0.1', 'address to listen on; loopback until someone decides otherwise'),
  port: setting(integer(0, 65_535), 8080, 'port to listen on; 0 takes any free one, which is printed'),
  data_dir: setting(path(), './data', 'folder of the databases, the keys and the journal'),
  admin_password: {
    ...setting(
      optional(text(8, 1024)),
      undefined,
      'password of the first administrator; generated and shown once where absent',
    ),
    secret: true,
  },
  'tls.cert': setting(
    optional(path()),
    undefined,
    'PEM file of the certificate chain; plain HTTP where absent',
  ),
  'tls.key': setting(optional(path()), undefined, 'PEM file of the private key of tls.cert'),
  'tls.client_ca': setting(
    optional(path()),
    undefined,
    'PEM file of the authority whose client certificates are accepted',
  ),
  'network.home': setting(
    list(cidr),
    ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'],
    'our own networks, which decide the direction of a connection: private, link-local, unique-local',
  ),
  'alerts.window_ms': setting(
    integer(second, 30 * day),
    hour,
    'occurrences of one alert closer together than this are one alert, as with Zeek notices',
  ),
  'threads.ingest': setting(
    integer(1, 64),
    Math.min(8, cores),
    'threads that parse sensor data; one a core, and eight feed any single disk',
  ),
  'threads.analytics': setting(
    integer(1, 64),
    Math.min(4, Math.max(1, cores >> 1)),
    'threads that run queries; half the cores, so that ingest goes on',
  ),
  'limits.max_body_bytes': setting(
    integer(64 * 1024, 16 * MiB),
    16 * MiB,
    'a request body as sent; operators may lower it',
  ),
  'limits.max_json_body_bytes': setting(
    integer(1024, 256 * 1024),
    256 * 1024,
    'JSON bodies of operations other than ingest; operators may lower it',
  ),
  'limits.max_ingest_in_flight_bytes': setting(
    integer(64 * 1024, 48 * MiB),
    48 * MiB,
    'ingest bodies received or in work at once; the lower, the less memory and the sooner OVERLOADED',
  ),
  'limits.max_queued_queries': setting(
    integer(1, 64),
    64,
    'queries that wait for a thread; past it they are refused with OVERLOADED',
  ),
  'limits.max_sockets': setting(integer(1, 10_000), 10_000, 'WebSocket connections; each costs about 10 kB'),
  'metrics.require_auth': setting(
    bool,
    false,
    'scrapers rarely carry credentials; set it where /metrics is exposed',
  ),
  'transparency.public_entries': setting(
    bool,
    false,
    'log entries name hosts and people, so they need a role until someone decides otherwise',
  ),
  'cors.origins': setting(
    list(origin),
    [] as readonly string[],
    'origins whose browsers may call; none by default',
  ),
  'log.level': setting(
    oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'info',
    'least severe message that is logged',
  ),
  'ledger.anchor_path': setting(
    optional(path()),
    undefined,
    'the head outside the database; on another volume it also shows a rollback of the whole data folder',
  ),
  'ledger.origin': setting(
    optional(keyName),
    undefined,
    'name of the log in checkpoints, such as log.example.org; where absent, a unique one that is made once',
  ),
  'keys.sth_rotation_ms': setting(
    integer(0, 366 * day),
    7 * day,
    'how long a key signs tree heads; 0 for as long as nobody rotates it',
  ),
  'keys.event_rotation_ms': setting(
    integer(0, 366 * day),
    day,
    'how long a key signs log entries; 0 for as long as nobody rotates it',
  ),
  'keys.overlap_ms': setting(
    integer(0, 30 * day),
    hour,
    'how long a new key is published before it takes over, so that readers of the key set know it by then',
  ),
  key_passphrase: {
    ...setting(
      optional(text(8, 1024)),
      undefined,
      'private keys are encrypted under it; once they are, no start goes without',
    ),
    secret: true,
  },
  'backup.dir': setting(
    optional(path()),
    undefined,
    'folder of the backups, by default backups in the data folder; on another volume they outlive this one',
  ),
  'witness.policy': setting(
    optional(path()),
    undefined,
    'file in the form of C2SP tlog-policy: the witnesses that cosign checkpoints, and how many; nobody where absent',
  ),
  'witness.wait_ms': setting(
    integer(100, 10 * 60 * second),
    5 * second,
    'how long a new checkpoint waits for its quorum; a witness on another continent answers within one',
  ),
  'witness.interval_ms': setting(
    integer(100, hour),
    2 * second,
    'at most so often a new checkpoint is put before the witnesses, each of which flushes it to disk',
  ),
  'witness.fail': setting(
    oneOf(['open', 'closed']),
    'closed',
    'without a quorum, open publishes the checkpoint all the same; closed keeps the last that had one, as readers ' +
      'who hold to the policy would refuse any other',
  ),
  'http.drain_ms': setting(
    integer(0, 600 * second),
    30 * second,
    'how long a stop waits for accepted requests; supervisors kill after 30 to 90 s',
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
export type Config = { readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['read']> };

/** A setting that cannot be used. The message is one line: the setting, what came, what is wanted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly setting: string;

  constructor(setting: string, message: string) {
    super(`${setting}: ${message.replace(/\s+/g, ' ')}`);
    this.setting = setting;
  }
}

/** Variables of the same prefix that belong to the commands and the tests. */
const foreignVariables = new Set([
  'CANDOR_CONFIG',
  'CANDOR_URL',
  'CANDOR_TOKEN',
  'CANDOR_USER',
  'CANDOR_PASSWORD',
  'CANDOR_SHARED',
  'CANDOR_DEMO_ONCE',
]);

/** Reads the environment and the file that CANDOR_CONFIG names. Throws `ConfigError` at the first bad setting. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = new Map<SettingName, Given>();
  const file = env.CANDOR_CONFIG;
  if (file !== undefined && file !== '') readFile(file, given);
  readEnvironment(env, given);

  const config = Object.fromEntries(
    names.map((name) => [name, settingValue(name, given.get(name))]),
  ) as Config;
  if ((config['tls.cert'] === undefined) !== (config['tls.key'] === undefined)) {
    const absent = config['tls.cert'] === undefined ? 'tls.cert' : 'tls.key';
    throw new ConfigError(absent, 'came nothing, wanted a path: tls.cert and tls.key belong together');
  }
  if (config['tls.client_ca'] !== undefined && config['tls.cert'] === undefined) {
    throw new ConfigError(
      'tls.client_ca',
      'came without tls.cert, wanted both: client certificates need TLS',
    );
  }
  return config;
}

interface Given {
  readonly raw: unknown;
  /** The variable or the file that it came from. */
  readonly from: string;
}

const names = Object.keys(settings) as SettingName[];
const byVariable = new Map(names.map((name) => [variableOf(name), name]));

/** `alerts.window_ms` → CANDOR_ALERTS_WINDOW_MS. */
export function variableOf(name: SettingName): string {
  return `CANDOR_${name.replaceAll('.', '_').toUpperCase()}`;
}

function settingValue(name: SettingName, given: Given | undefined): unknown {
  const setting: Setting<unknown> = settings[name];
  if (given === undefined) return setting.default;
  try {
    return setting.read(given.raw);
  } catch (error) {
    if (!(error instanceof Unwanted)) throw error;
    const came = setting.secret ? 'a value that is not shown here' : show(given.raw);
    throw new ConfigError(name, `came ${came} from ${given.from}, wanted ${error.message}`);
  }
}

function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  given: Map<SettingName, Given>,
): void {
  for (const [variable, raw] of Object.entries(env)) {
    if (!variable.startsWith('CANDOR_') || foreignVariables.has(variable) || raw === undefined) continue;
    const name = byVariable.get(variable);
    if (name === undefined) {
      throw new ConfigError(
        variable,
        `came ${show(raw)} from the environment, wanted no variable of this name`,
      );
    }
    // An empty variable is how compose files and unit files say "not set".
    if (raw !== '') given.set(name, { raw, from: variable });
  }
}

function readFile(file: string, given: Map<SettingName, Given>): void {
  let content: unknown;
  try {
    content = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const problem = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new ConfigError(
      'CANDOR_CONFIG',
      `came ${show(file)}, wanted a readable YAML or JSON file: ${problem}`,
    );
  }
  if (content === null || content === undefined) return;
  if (!isMapping(content)) {
    throw new ConfigError('CANDOR_CONFIG', `came ${show(content)} in ${file}, wanted a mapping of settings`);
  }
  flatten(content, '', (name, raw) => {
    if (!Object.hasOwn(settings, name)) {
      throw new ConfigError(name, `came ${show(raw)} from ${file}, wanted no setting of this name`);
    }
    if (raw !== null) given.set(name as SettingName, { raw, from: file });
  });
}

/** `{network: {home: […]}}` and `{"network.home": […]}` mean the same. */
function flatten(
  mapping: Record<string, unknown>,
  prefix: string,
  visit: (name: string, raw: unknown) => void,
): void {
  for (const [key, raw] of Object.entries(mapping)) {
    const name = prefix + key;
    if (isMapping(raw) && !Object.hasOwn(settings, name)) flatten(raw, `${name}.`, visit);
    else visit(name, raw);
  }
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const shown = JSON.stringify(value) ?? String(value);
  return shown.length > 80 ? `${shown.slice(0, 77)}…` : shown;
}

// Readers of values.

function setting<T>(read: Read<T>, value: NoInfer<T>, reason: string): Setting<T> {
  return { read, default: value, reason };
}

function optional<T>(read: Read<T>): Read<T | undefined> {
  return read;
}

function text(least: number, most: number): Read<string> {
  return (raw) => {
    if (typeof raw === 'string' && raw.length >= least && raw.length <= most) return raw;
    throw new Unwanted(`a text of ${least} to ${most} characters`);
  };
}

function path(): Read<string> {
  return (raw) => {
    if (typeof raw === 'string' && raw.length > 0 && !raw.includes('\0')) return resolve(raw);
    throw new Unwanted('a path');
  };
}

function integer(least: number, most: number): Read<number> {
  return (raw) => {
    const value = typeof raw === 'string' && /^(0|[1-9][0-9]*)$/.test(raw) ? Number(raw) : raw;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
      return value;
    throw new Unwanted(`an integer from ${least} to ${most}`);
  };
}

function bool(raw: unknown): boolean {
  if (raw === true || raw === 'true' || raw === '1') return true;
  if (raw === false || raw === 'false' || raw === '0') return false;
  throw new Unwanted('true or false');
}

function oneOf<const T extends readonly string[]>(values: T): Read<T[number]> {
  return (raw) => {
    if (values.includes(raw as string)) return raw as T[number];
    throw new Unwanted(`one of ${values.join(', ')}`);
  };
}

/** A list in the file, comma-separated text in the environment. At most 1000 items: it is matched per event. */
function list(item: Read<string>): Read<readonly string[]> {
  return (raw) => {
    const items = typeof raw === 'string' ? raw.split(',').map((part) => part.trim()) : raw;
    if (!Array.isArray(items) || items.length > 1000) throw new Unwanted('a list of at most 1000 items');
    return items.map(item);
  };
}

/** `10.0.0.0/8`, `fc00::/7`; a bare address means itself alone. */
function cidr(raw: unknown): string {
  const [address = '', prefix, ...rest] = typeof raw === 'string' ? raw.split('/') : [];
  const bits = isIP(address) === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : /^(0|[1-9][0-9]*)$/.test(prefix) ? Number(prefix) : -1;
  if (isIP(address) === 0 || address.includes('%') || length < 0 || length > bits || rest.length > 0) {
    throw new Unwanted('CIDR blocks such as 10.0.0.0/8 or fc00::/7');
  }
  return `${address}/${length}`;
}

/** C2SP signed-note: a key name is not empty and has neither spaces nor plus signs. */
function keyName(raw: unknown): string {
  if (typeof raw === 'string' && raw.length <= 255 && /^[^\s+\p{Cc}]+$/u.test(raw) && raw.isWellFormed())
    return raw;
  throw new Unwanted('a name of at most 255 characters without spaces and plus signs');
}

function origin(raw: unknown): string {
  if (raw === '*') return raw;
  if (typeof raw === 'string' && URL.canParse(raw) && new URL(raw).origin === raw) return raw;
  throw new Unwanted('origins such as https://console.example.org, or *');
}
