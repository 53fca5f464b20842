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
  /** Why it exists and why the default is what it is. */
  readonly reason: string;
  /** Never shown, in a message neither; comes from the environment or the file only. */
  readonly secret?: true;
  /** Why the running service cannot store another value; absent where it can. */
  readonly readOnly?: string;
}

const MiB = 2 ** 20;
const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;
const cores = availableParallelism();

const agentPurposes = ['transparency-sth', 'event-signing', 'checkpoint'] as const;
const signerIsFixed = 'it decides which keys sign; set it in the environment or the file of settings';

/**
 * Every setting: its dotted name in the configuration file. The environment variable of `alerts.window_ms` is
 * CANDOR_ALERTS_WINDOW_MS, and so on; the environment wins over the file, the file over the default.
 */
export const settings = {
  host: setting(host, '127.0.0.1', 'address to listen on; loopback until someone decides otherwise'),
  port: setting(integer(0, 65_535), 8080, 'port to listen on; 0 takes any free one, which is printed'),
  data_dir: {
    ...setting(path(), './data', 'folder of the databases, the keys and the journal'),
    readOnly: 'the data of the service lie in it; move the folder and start with its new place',
  },
  admin_password: {
    ...setting(
      optional(text(8, 1024)),
      undefined,
      'password of the first administrator; generated and shown once where absent',
    ),
    secret: true,
  },
  'auth.access_token_ms': setting(
    integer(60 * second, hour),
    15 * 60 * second,
    'how long an access token lasts before it must be renewed; others who verify it offline trust it as long',
  ),
  'auth.session_ms': setting(
    integer(60 * second, 366 * day),
    7 * day,
    'how long after a login it can be renewed: whoever works all week signs in once',
  ),
  'tls.cert': setting(
    optional(path()),
    undefined,
    'PEM file of the certificate chain; plain HTTP where absent',
  ),
  'tls.key': setting(optional(path()), undefined, 'PEM file of the private key of tls.cert'),
  'tls.client_ca': setting(
    optional(path()),
    undefined,
    'PEM file of the authority whose client certificates are accepted; keep one of its own for them, as whoever it ' +
      'certifies under the name of a principal is that principal',
  ),
  'tls.client_certificates': setting(
    oneOf(['optional', 'required']),
    'optional',
    'required refuses every request without a valid client certificate, /health and browsers without one included',
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
  'retention.max_age_ms': setting(
    zeroOr(day, 100 * 366 * day),
    90 * day,
    'how long events are kept, by when they were received; they go in whole blocks, each of one day. 0 for as long as ' +
      'there is room. A quarter is what incidents are traced back over; what was counted of them is kept longer',
  ),
  'retention.max_bytes': setting(
    zeroOr(64 * MiB, 192 * 1024 * MiB),
    0,
    'bytes that events may take up on disk; past it the oldest go, and the file grows no more. 0 for half of the ' +
      'volume with the data folder, at most the largest value: the other half is for what else the file has, the log ' +
      'and a backup',
  ),
  'detection.detectors_off': setting(
    list(oneOf(detectorIds)),
    [],
    'behaviour detectors that are not to run: what they find is of no use here',
  ),
  'detection.rules_dir': {
    ...setting(
      optional(path()),
      undefined,
      'folder of detection rules (Sigma), read with all folders in it at each start and reload; rules in the data folder ' +
        'where absent',
    ),
    readOnly:
      'the service shows what the files in it hold; set it in the environment or the file of settings',
  },
  'detection.placeholders': setting(
    namedLists(text(1, limits.maxSigmaValueLength), {
      maxLists: limits.maxPlaceholders,
      maxItems: limits.maxPlaceholderValues,
    }),
    {},
    'lists that detection rules ask for by name: what %admin_hosts% stands for in a rule that says expand. ' +
      '%home_networks% is network.home',
  ),
  'triage.endpoint': {
    ...setting(
      optional(serviceUrl),
      undefined,
      'base URL of an OpenAI-compatible service that is asked for a second verdict on alerts, such as ' +
        'https://llm.example.org/v1; nobody where absent',
    ),
    readOnly: 'alerts are sent to it; set it in the environment or the file of settings',
  },
  'triage.model': setting(
    optional(text(1, 200)),
    undefined,
    'name of the model that the endpoint is asked for',
  ),
  'triage.api_key': {
    ...setting(optional(bearer), undefined, 'key that the endpoint wants; none where absent'),
    secret: true,
  },
  'triage.redact': {
    ...setting(
      bool,
      true,
      'whether addresses of our own networks, host names, domains and people are replaced before alerts are sent to ' +
        'the endpoint; what runs on this machine may see them',
    ),
    readOnly: 'it decides what leaves this machine; set it in the environment or the file of settings',
  },
  'triage.min_severity': setting(
    oneOf(severities),
    'high',
    'alerts below it are not put to the endpoint: it takes seconds and money for each',
  ),
  'triage.timeout_ms': setting(
    integer(100, 10 * 60 * second),
    30 * second,
    'how long the endpoint may take for one answer; large models take 10 s',
  ),
  'triage.max_per_minute': setting(
    integer(1, 6000),
    20,
    'questions to the endpoint a minute; the others keep the verdict of the local model',
  ),
  'discovery.allowed_networks': setting(
    list(cidr),
    ['127.0.0.0/8', '::1/128'],
    'networks that scans may reach; none but loopback until someone decides otherwise',
  ),
  'discovery.nmap': {
    ...setting(
      program,
      'off',
      'whether scans may run nmap: off, auto for the one in the search path, or its absolute path',
    ),
    readOnly: 'the service runs the program that it names; set it in the environment or the file of settings',
  },
  'threads.ingest': setting(
    integer(1, 64),
    Math.min(8, cores),
    'threads that parse sensor data; one a core, and eight feed any single disk',
  ),
  'threads.analytics': setting(
    integer(1, 64),
    Math.min(4, Math.max(2, cores >> 1)),
    'threads that run queries; half the cores, so that ingest goes on, and two at least, because long queries leave ' +
      'one to short ones',
  ),
  'limits.max_body_bytes': setting(
    integer(64 * 1024, 16 * MiB),
    16 * MiB,
    'a request body as sent; operators may lower it',
  ),
  'limits.max_json_body_bytes': setting(
    integer(1024, 256 * 1024),
    256 * 1024,
    'JSON bodies of operations other than ingest; operators may lower it. Login and refresh, whose callers nobody ' +
      `knows yet, take ${limits.maxPublicJsonBodyBytes} at the most`,
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
  'limits.max_connections': setting(
    integer(1, 1_000_000),
    limits.maxConnections,
    'connections, idle ones and WebSockets included; each costs about 10 kB and a file descriptor',
  ),
  'limits.max_connections_per_address': setting(
    integer(0, 65_535),
    limits.maxConnectionsPerAddress,
    'of these, from one address or one IPv6 /64; 0 for no such limit, as behind a proxy, which speaks for many',
  ),
  'limits.requests_per_s_per_address': setting(
    integer(0, 1_000_000),
    limits.maxRequestsPerSPerAddress,
    'requests a second from one address or one IPv6 /64, a quarter of what one core answers; 0 for no such limit, as ' +
      'behind a proxy',
  ),
  'limits.requests_per_s_per_principal': setting(
    integer(0, 1_000_000),
    limits.maxRequestsPerSPerPrincipal,
    'requests a second with the credentials of one principal, from wherever; 0 for no such limit',
  ),
  'limits.log_reads_per_s_per_address': setting(
    integer(0, 1_000_000),
    limits.maxLogReadsPerSPerAddress,
    'reads of the transparency log a second without credentials from one address or one IPv6 /64; 0 for no such limit',
  ),
  'limits.login_failures_per_min_per_address': setting(
    integer(0, 65_535),
    limits.maxLoginFailuresPerMinute,
    'wrong passwords a minute from one address or one IPv6 /64, for accounts that never signed in from there; 0 for no ' +
      'such limit, as behind a proxy',
  ),
  'metrics.require_auth': setting(
    bool,
    false,
    'scrapers rarely carry credentials; set it where /metrics is exposed. The first start, and the start after it ' +
      'changes, writes it into the access policy, which decides',
  ),
  'transparency.public_entries': setting(
    bool,
    false,
    'log entries name hosts and people, so they need a role until someone decides otherwise. The first start, and ' +
      'the start after it changes, writes it into the access policy, which decides',
  ),
  'transparency.seal_events': setting(
    bool,
    false,
    'entries commit to all events that are stored, so that any of them can be proven to be unaltered; off at first, ' +
      'as it makes up to 1 MB of entries a day',
  ),
  'transparency.seal_interval_ms': setting(
    integer(second, hour),
    limits.sealIntervalMs,
    'how often an entry covers the events that are new: how precisely the log dates them',
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
  'ledger.anchor_path': {
    ...setting(
      optional(path()),
      undefined,
      'the head outside the database; on another volume it also shows a rollback of the whole data folder',
    ),
    readOnly:
      'it bears witness against whoever may change settings; set it in the environment or the file of settings',
  },
  'ledger.anchor_loss': setting(
    oneOf(['refuse', 'wait']),
    'refuse',
    'while the anchor cannot be written, log entries are refused, or wait (65,536 at most) until it can be',
  ),
  'ledger.origin': setting(
    optional(keyName),
    undefined,
    'name of the log in checkpoints, such as log.example.org; where absent, a unique one that is made once',
  ),
  'ledger.publication_delay_ms': setting(
    integer(0, hour),
    0,
    'public readers see only log entries that are at least this old, so that they cannot tell which action raised an ' +
      'alert; 60000 is recommended where the log can be read from networks that are monitored; 0 for no delay',
  ),
  'ledger.signer': {
    ...setting(
      oneOf(['file', 'ssh-agent']),
      'file',
      'where the private keys of the log are: in key files, or in an ssh-agent, such as one in front of a hardware ' +
        'token. A change takes effect by a rotation of the keys',
    ),
    readOnly: signerIsFixed,
  },
  'ledger.ssh_agent_socket': {
    ...setting(
      optional(path()),
      undefined,
      'Unix socket of the ssh-agent; SSH_AUTH_SOCK of the environment where absent',
    ),
    readOnly: signerIsFixed,
  },
  'ledger.ssh_agent_purposes': {
    ...setting(
      list(oneOf(agentPurposes)),
      agentPurposes,
      'purposes whose keys the ssh-agent holds; leave out event-signing where a token makes few signatures a second, as ' +
        'each log entry needs one',
    ),
    readOnly: signerIsFixed,
  },
  'ledger.ssh_agent_keys': {
    ...setting(
      list(agentKey),
      [],
      'keys of the ssh-agent whose comment is not candor:<purpose>, as purpose=SHA256:fingerprint; tokens often fix the ' +
        'comment',
    ),
    readOnly: signerIsFixed,
  },
  'ledger.detect_copies': {
    ...setting(
      bool,
      true,
      'a copied data folder would sign with the keys of the original; switch it off only on a file system whose inode ' +
        'numbers change while a file stays where it is',
    ),
    readOnly: 'it protects the keys of the log; set it in the environment or the file of settings',
  },
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
  'backup.recipient': {
    ...setting(
      list(ageRecipient),
      [],
      'age recipients to whom the private keys of the log are encrypted in backups; without any, backups have no ' +
        'private keys, and a restored log does not need them',
    ),
    readOnly: 'it decides who can read private keys; set it in the environment or the file of settings',
  },
  'policy.file': {
    ...setting(
      optional(path()),
      undefined,
      'YAML or JSON file of the rules who may do what, read at each start and reload and written by changes through ' +
        'the interface; policy.json in the data folder where absent',
    ),
    readOnly: 'the service writes the file that it names; set it in the environment or the file of settings',
  },
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
  'timestamps.authorities': {
    ...setting(
      list(httpUrl),
      [] as readonly string[],
      'URLs of timestamping authorities (RFC 3161) that are sent the hash of the published checkpoint; none by default. ' +
        `At most ${limits.maxTimestampAuthorities}`,
    ),
    readOnly: 'the service sends requests to them; set it in the environment or the file of settings',
  },
  'timestamps.ca_file': {
    ...setting(
      optional(path()),
      undefined,
      'PEM file of the certificates that vouch for these authorities: roots, or their own; without it a timestamp of any ' +
        'certificate for timestamping is kept, and verifiers decide',
    ),
    readOnly: 'it decides whose timestamps count; set it in the environment or the file of settings',
  },
  'timestamps.interval_ms': setting(
    integer(60 * second, 7 * day),
    hour,
    'how often each authority timestamps the checkpoint: entries are dated as precisely as that. One timestamp takes up ' +
      '10 kB of the log, 90 MB a year for each authority at one an hour',
  ),
  'timestamps.timeout_ms': setting(
    integer(100, 10 * 60 * second),
    30 * second,
    'how long an authority may take to answer; public ones answer within a second',
  ),
  'http.drain_ms': setting(
    integer(0, 600 * second),
    30 * second,
    'how long a stop waits for accepted requests; supervisors kill after 30 to 90 s',
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
/** The value of every setting, by its name. */
export type Config = { readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['read']> };

export const settingNames = Object.keys(settings) as SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settings, name);
}

/** A setting without the types of its own, for what treats all alike. */
export function settingOf(name: SettingName): Setting<unknown> {
  return settings[name];
}

/** `alerts.window_ms` → CANDOR_ALERTS_WINDOW_MS. */
export function variableOf(name: SettingName): string {
  return `CANDOR_${name.replaceAll('.', '_').toUpperCase()}`;
}

function setting<T>(reader: Reader<T>, value: NoInfer<T>, reason: string): Setting<T> {
  return { ...reader, default: value, reason };
}
