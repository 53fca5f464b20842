import { availableParallelism } from 'node:os';
import { detectorIds, severities } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';
import {
  agentKey,
  ageRecipient,
  bearer,
  bool,
  cidr,
  host,
  httpUrl,
  integer,
  keyName,
  list,
  namedLists,
  oneOf,
  optional,
  origin,
  path,
  program,
  type Reader,
  serviceUrl,
  text,
  zeroOr,
} from './readers.ts';

interface Setting<T> extends Reader<T> {
  readonly default: T;
  /** The purpose of the setting and the reason for its default. */
  readonly reason: string;
  /** Whether the value is never shown, not even in messages, and can only be set in the environment or the file. */
  readonly secret?: true;
  /** The reason why the running service cannot store another value; absent if the service can. */
  readonly readOnly?: string;
}

const MiB = 2 ** 20;
const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;
const cores = availableParallelism();

const agentPurposes = ['transparency-sth', 'event-signing', 'checkpoint'] as const;
const signerIsFixed = 'it decides which keys sign; set it in the environment or the settings file';

/**
 * Every setting by its dotted name in the configuration file. The environment variable of `alerts.window_ms` is
 * CANDOR_ALERTS_WINDOW_MS, and so on; the environment overrides the file, and the file overrides the default.
 */
export const settings = {
  host: setting(host, '127.0.0.1', 'address to listen on; by default, only this machine can connect'),
  port: setting(integer(0, 65_535), 8080, 'port to listen on; 0 selects a free port, which is printed at the start'),
  data_dir: setting(path(), './data', 'folder of databases, keys and journal', {
    readOnly: 'it holds the data of the service; move the folder and start with its new path',
  }),
  admin_password: setting(
    optional(text(8, 1024)),
    undefined,
    'password of the first administrator; if not set, a password is generated and shown once',
    { secret: true },
  ),
  'auth.access_token_ms': setting(
    integer(60 * second, hour),
    15 * 60 * second,
    'lifetime of an access token; programs that verify tokens offline accept a token for this time, even if it is ' +
      'revoked',
  ),
  'auth.session_ms': setting(
    integer(60 * second, 366 * day),
    7 * day,
    'lifetime of a session; with seven days, a user signs in once a week',
  ),
  'tls.cert': setting(optional(path()), undefined, 'PEM file of the certificate chain; plain HTTP if not set'),
  'tls.key': setting(optional(path()), undefined, 'PEM file of the private key of tls.cert'),
  'tls.client_ca': setting(
    optional(path()),
    undefined,
    'PEM file of the authority whose client certificates are accepted; use an authority for this purpose only, because a ' +
      'certificate with the name of a principal grants all its roles',
  ),
  'tls.client_certificates': setting(
    oneOf(['optional', 'required']),
    'optional',
    'with required, every request needs a valid client certificate, including /health and requests of browsers',
  ),
  'network.home': setting(
    list(cidr),
    ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'],
    'your own networks, which determine directions and assets; by default private, link-local and unique-local ranges',
  ),
  'alerts.window_ms': setting(
    integer(second, 30 * day),
    hour,
    'findings that follow each other within this time join the same alert, as with Zeek notices',
  ),
  'retention.max_age_ms': setting(
    zeroOr(day, 100 * 366 * day),
    90 * day,
    'how long events are kept after they were received; they are deleted in blocks, each with events of one day. 0 ' +
      'keeps events while there is space. 90 days cover most investigations; statistics computed from events are kept ' +
      'longer',
  ),
  'retention.max_bytes': setting(
    zeroOr(64 * MiB, 192 * 1024 * MiB),
    0,
    'maximum bytes of events on disk; above it, the oldest events are deleted, and the file stops growing. 0 for ' +
      'half of the volume with the data folder, at most the largest value of this setting; the other half is for ' +
      'other data in the file, the log and a backup',
  ),
  'detection.detectors_off': setting(list(oneOf(detectorIds)), [], 'behaviour detectors that do not run'),
  'detection.rules_dir': setting(
    optional(path()),
    undefined,
    'folder of detection rules (Sigma), read with its subfolders at each start and reload; by default the folder ' +
      'rules in the data folder',
    {
      readOnly: 'the service shows the content of its files; set it in the environment or the settings file',
    },
  ),
  'detection.placeholders': setting(
    namedLists(text(1, limits.maxSigmaValueLength), {
      maxLists: limits.maxPlaceholders,
      maxItems: limits.maxPlaceholderValues,
    }),
    {},
    'lists for placeholders of detection rules, such as %admin_hosts% with the modifier expand; ' +
      '%home_networks% is network.home',
  ),
  'triage.endpoint': setting(
    optional(serviceUrl),
    undefined,
    'base URL of an OpenAI-compatible service that gives a second verdict on alerts, such as ' +
      'https://llm.example.org/v1; none by default',
    { readOnly: 'alerts are sent to it; set it in the environment or the settings file' },
  ),
  'triage.model': setting(optional(text(1, 200)), undefined, 'name of the model that is requested from the endpoint'),
  'triage.api_key': setting(optional(bearer), undefined, 'API key of the endpoint; none by default', {
    secret: true,
  }),
  'triage.redact': setting(
    bool,
    true,
    'whether addresses of your networks, host names, domains and names of users are replaced before alerts are sent to ' +
      'the endpoint; switch it off only for an endpoint on this machine',
    { readOnly: 'it decides what leaves this machine; set it in the environment or the settings file' },
  ),
  'triage.min_severity': setting(
    oneOf(severities),
    'high',
    'alerts of lower severity are not sent to the endpoint, because each request takes seconds and costs money',
  ),
  'triage.timeout_ms': setting(
    integer(100, 10 * 60 * second),
    30 * second,
    'time limit of one request to the endpoint; large models take 10 s',
  ),
  'triage.max_per_minute': setting(
    integer(1, 6000),
    20,
    'requests to the endpoint per minute; further alerts keep the verdict of the local model',
  ),
  'discovery.allowed_networks': setting(
    list(cidr),
    ['127.0.0.0/8', '::1/128'],
    'networks that scans may reach; loopback only by default',
  ),
  'discovery.nmap': setting(
    program,
    'off',
    'whether scans may run nmap: off, auto for nmap in the search path, or the absolute path of nmap',
    {
      readOnly: 'the service runs the program that it names; set it in the environment or the settings file',
    },
  ),
  'threads.ingest': setting(
    integer(1, 64),
    Math.min(8, cores),
    'threads that parse sensor data; one per core, at most eight',
  ),
  'threads.analytics': setting(
    integer(1, 64),
    Math.min(4, Math.max(2, cores >> 1)),
    'threads that run queries; half the cores, so that ingest continues, and at least two, because long queries ' +
      'leave one thread for short queries',
  ),
  'limits.max_body_bytes': setting(integer(64 * 1024, 16 * MiB), 16 * MiB, 'largest request body, as sent'),
  'limits.max_json_body_bytes': setting(
    integer(1024, 256 * 1024),
    256 * 1024,
    'largest JSON body of operations other than ingest; bodies of unauthenticated callers (login, refresh) may have ' +
      `at most ${limits.maxPublicJsonBodyBytes} bytes`,
  ),
  'limits.max_ingest_in_flight_bytes': setting(
    integer(64 * 1024, 48 * MiB),
    48 * MiB,
    'total bytes of ingest bodies in progress; lower values save memory, but cause OVERLOADED sooner',
  ),
  'limits.max_queued_queries': setting(
    integer(1, 64),
    64,
    'queries that wait for a thread; further queries are refused with OVERLOADED',
  ),
  'limits.max_sockets': setting(integer(1, 10_000), 10_000, 'WebSocket connections; each costs about 10 kB'),
  'limits.max_connections': setting(
    integer(1, 1_000_000),
    limits.maxConnections,
    'connections, including idle connections and WebSockets; each costs about 10 kB and a file descriptor',
  ),
  'limits.max_connections_per_address': setting(
    integer(0, 65_535),
    limits.maxConnectionsPerAddress,
    'connections from one address or one IPv6 /64; 0 for no limit, for example behind a proxy',
  ),
  'limits.requests_per_s_per_address': setting(
    integer(0, 1_000_000),
    limits.maxRequestsPerSPerAddress,
    'requests per second from one address or one IPv6 /64; by default a quarter of the capacity of one core; 0 for ' +
      'no limit, for example behind a proxy',
  ),
  'limits.requests_per_s_per_principal': setting(
    integer(0, 1_000_000),
    limits.maxRequestsPerSPerPrincipal,
    'requests per second with the credentials of one principal; 0 for no limit',
  ),
  'limits.log_reads_per_s_per_address': setting(
    integer(0, 1_000_000),
    limits.maxLogReadsPerSPerAddress,
    'unauthenticated reads of the transparency log per second from one address or one IPv6 /64; 0 for no limit',
  ),
  'limits.login_failures_per_min_per_address': setting(
    integer(0, 65_535),
    limits.maxLoginFailuresPerMinute,
    'wrong passwords per minute from one address or one IPv6 /64, for accounts that never signed in from there; 0 for ' +
      'no limit, for example behind a proxy',
  ),
  'metrics.require_auth': setting(
    bool,
    false,
    'whether /metrics requires credentials; set it if /metrics is exposed. The first start, and the start after a ' +
      'change, write the value into the access policy, which takes precedence',
  ),
  'transparency.public_entries': setting(
    bool,
    false,
    'whether log entries, which name hosts and users, can be read without credentials. The first start, and the ' +
      'start after a change, write the value into the access policy, which takes precedence',
  ),
  'transparency.seal_events': setting(
    bool,
    false,
    'whether log entries commit to all stored events, so that each event can be proven unaltered; adds up to 1 MB of ' +
      'entries a day',
  ),
  'transparency.seal_interval_ms': setting(
    integer(second, hour),
    limits.sealIntervalMs,
    'interval between seals; the log dates events with this precision',
  ),
  'cors.origins': setting(
    list(origin),
    [] as readonly string[],
    'origins whose web pages may call the API; none by default',
  ),
  'log.level': setting(
    oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'info',
    'lowest level that is logged',
  ),
  'ledger.anchor_path': setting(
    optional(path()),
    undefined,
    'file with the last tree head outside the database; on another volume it also reveals a rollback of the data folder',
    {
      readOnly:
        'it protects against callers with the right to change settings; set it in the environment or the settings file',
    },
  ),
  'ledger.anchor_loss': setting(
    oneOf(['refuse', 'wait']),
    'refuse',
    'while the anchor cannot be written, log entries are refused, or wait (at most 65,536) until it can be written',
  ),
  'ledger.origin': setting(
    optional(keyName),
    undefined,
    'name of the log in checkpoints, such as log.example.org; a unique name by default',
  ),
  'ledger.publication_delay_ms': setting(
    integer(0, hour),
    0,
    'public readers see only log entries that are at least this old, so that they cannot tell which action raised an ' +
      'alert; 60000 is recommended where the log can be read from networks that are monitored; 0 for no delay',
  ),
  'ledger.signer': setting(
    oneOf(['file', 'ssh-agent']),
    'file',
    'where the private keys of the log are: in key files, or in an ssh-agent, such as the agent of a hardware token. ' +
      'A change takes effect when the keys are rotated',
    { readOnly: signerIsFixed },
  ),
  'ledger.ssh_agent_socket': setting(
    optional(path()),
    undefined,
    'Unix socket of the ssh-agent; by default SSH_AUTH_SOCK of the environment',
    { readOnly: signerIsFixed },
  ),
  'ledger.ssh_agent_purposes': setting(
    list(oneOf(agentPurposes)),
    agentPurposes,
    'purposes whose keys the ssh-agent holds; leave out event-signing if the token makes few signatures a second, ' +
      'because each log entry needs a signature',
    { readOnly: signerIsFixed },
  ),
  'ledger.ssh_agent_keys': setting(
    list(agentKey),
    [],
    'keys of the ssh-agent whose comment is not candor:<purpose>, as purpose=SHA256:fingerprint; many tokens have ' +
      'fixed comments',
    { readOnly: signerIsFixed },
  ),
  'ledger.detect_copies': setting(
    bool,
    true,
    'whether copies of the data folder are detected, because a copy would sign with the keys of the original; switch ' +
      'it off only on a file system that changes the inode numbers of unmoved files',
    { readOnly: 'it protects the keys of the log; set it in the environment or the settings file' },
  ),
  'keys.sth_rotation_ms': setting(
    integer(0, 366 * day),
    7 * day,
    'how long a key signs tree heads; 0 for no automatic rotation',
  ),
  'keys.event_rotation_ms': setting(
    integer(0, 366 * day),
    day,
    'how long a key signs log entries; 0 for no automatic rotation',
  ),
  'keys.overlap_ms': setting(
    integer(0, 30 * day),
    hour,
    'how long a new key is published before it signs, so that clients fetch it in time',
  ),
  key_passphrase: setting(
    optional(text(8, 1024)),
    undefined,
    'passphrase that encrypts the private keys; every later start needs it',
    { secret: true },
  ),
  'backup.dir': setting(
    optional(path()),
    undefined,
    'folder of backups; by default the folder backups in the data folder. Prefer another volume',
  ),
  'backup.recipient': setting(
    list(ageRecipient),
    [],
    'age recipients to whom the private keys of the log are encrypted in backups; without recipients, backups have ' +
      'no private keys, and a restored log does not need them',
    {
      readOnly: 'it decides about access to private keys; set it in the environment or the settings file',
    },
  ),
  'policy.file': setting(
    optional(path()),
    undefined,
    'YAML or JSON file of the access policy, read at each start and reload, and written by changes over HTTP; by ' +
      'default policy.json in the data folder',
    {
      readOnly: 'the service writes the file that it names; set it in the environment or the settings file',
    },
  ),
  'witness.policy': setting(
    optional(path()),
    undefined,
    'C2SP tlog-policy file that names the witnesses and the quorum; none by default',
  ),
  'witness.wait_ms': setting(
    integer(100, 10 * 60 * second),
    5 * second,
    'how long a new checkpoint waits for its quorum; a witness on another continent answers within a second',
  ),
  'witness.interval_ms': setting(
    integer(100, hour),
    2 * second,
    'minimum interval between checkpoints that are sent to witnesses; each witness flushes each checkpoint to disk',
  ),
  'witness.fail': setting(
    oneOf(['open', 'closed']),
    'closed',
    'without a quorum, open publishes the checkpoint anyway; closed keeps the last checkpoint with a quorum, because ' +
      'readers with the same policy reject any other checkpoint',
  ),
  'timestamps.authorities': setting(
    list(httpUrl),
    [] as readonly string[],
    'URLs of timestamping authorities (RFC 3161) that receive the hash of the published checkpoint; none by default. ' +
      `At most ${limits.maxTimestampAuthorities}`,
    { readOnly: 'the service sends requests to them; set it in the environment or the settings file' },
  ),
  'timestamps.ca_file': setting(
    optional(path()),
    undefined,
    'PEM file of root certificates of these authorities, or of their own certificates; without it, timestamps of any ' +
      'timestamping certificate are kept, and verifiers decide whether to trust them',
    { readOnly: 'it decides which timestamps are accepted; set it in the environment or the settings file' },
  ),
  'timestamps.interval_ms': setting(
    integer(60 * second, 7 * day),
    hour,
    'how often each authority timestamps the checkpoint, which is the precision of the times of entries. A timestamp ' +
      'takes up 10 kB of the log: with one per hour, 90 MB a year for each authority',
  ),
  'timestamps.timeout_ms': setting(
    integer(100, 10 * 60 * second),
    30 * second,
    'time limit of a request to an authority; public authorities respond within a second',
  ),
  'http.drain_ms': setting(
    integer(0, 600 * second),
    30 * second,
    'how long a stop waits for accepted requests; supervisors kill processes after 30 to 90 s',
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
/** The value of every setting, by name. */
export type Config = { readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['read']> };

export const settingNames = Object.keys(settings) as SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

/** Returns a setting with a generic type, for code that treats all settings alike. */
export function settingOf(name: SettingName): Setting<unknown> {
  return settings[name];
}

/** Returns the environment variable of a setting: `alerts.window_ms` → CANDOR_ALERTS_WINDOW_MS. */
export function variableOf(name: SettingName): string {
  return `CANDOR_${name.replaceAll('.', '_').toUpperCase()}`;
}

function setting<T>(
  reader: Reader<T>,
  value: NoInfer<T>,
  reason: string,
  access: Pick<Setting<T>, 'secret' | 'readOnly'> = {},
): Setting<T> {
  return { ...reader, default: value, reason, ...access };
}
