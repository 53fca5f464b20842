import { type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ChannelName } from './channels.ts';
import { answer, listed, paginated, success, successWith } from './envelopes.ts';
import {
  alertQuery,
  alertStreamQuery,
  auditQuery,
  consistencyQuery,
  dnsEventQuery,
  dnsEventStreamQuery,
  entriesQuery,
  inclusionQuery,
  leafQuery,
  networkEventQuery,
  networkEventStreamQuery,
  pageQuery,
  treeHeadQuery,
  treeHeadsQuery,
} from './parameters.ts';
import { Alert, AlertUpdateInput } from './resources/alert.ts';
import { AlertNote, AlertNoteInput } from './resources/alert-note.ts';
import { ConfigInput } from './resources/config.ts';
import { DnsEventInput } from './resources/dns-event.ts';
import { anyObject, text, uuid } from './resources/fields.ts';
import { Health } from './resources/health.ts';
import { ackMode, IngestAnswer, ingestSource } from './resources/ingest.ts';
import { KeyRevocationInput, KeyRotationInput } from './resources/key.ts';
import { NetworkEventInput } from './resources/network-event.ts';
import { Policy, PolicyInput } from './resources/policy.ts';
import { Principal, PrincipalInput, PrincipalUpdateInput, type Role } from './resources/principal.ts';
import { LoginInput, PasswordInput, RefreshInput, SessionTokens } from './resources/session.ts';
import { IssuedToken, Token, TokenInput } from './resources/token.ts';
import {
  ConsistencyProof,
  InclusionProof,
  JsonWebKeySet,
  Leaf,
  ProofBundle,
  SignedTreeHead,
  treeHeadId,
} from './resources/transparency.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * What a request carries. `json` is parsed and validated against `schema` as a whole; `resource` is what it changes,
 * so that a field that only the service sets is told from an unknown one. `ingest` is left as bytes for the ingest
 * pool, which judges each record by itself; `schema` only describes it.
 */
export type RequestBody =
  | { readonly kind: 'json'; readonly schema: TObject; readonly resource?: TObject }
  | {
      readonly kind: 'ingest';
      readonly mediaTypes: readonly string[];
      readonly schema: TSchema;
      /** The only kind of record taken; any where absent. */
      readonly table?: 'network' | 'dns';
    };

export type ResponseBody =
  | { readonly kind: 'json'; readonly schema: TSchema }
  | { readonly kind: 'text'; readonly mediaType: string }
  | { readonly kind: 'bytes'; readonly mediaType: string }
  | { readonly kind: 'none' };

export interface Route {
  readonly method: Method;
  /**
   * Parameters are segments with a colon: `/api/v1/alerts/:alert_id`. One with a star at the end is all that follows,
   * slashes included, as it was sent: `/tile/:tile*`.
   */
  readonly path: string;
  readonly summary: string;
  readonly tag: 'auth' | 'ingest' | 'events' | 'alerts' | 'identities' | 'system' | 'transparency';
  /** Who may; the default of the access policy. */
  readonly access: 'public' | readonly Role[];
  /**
   * Some of what it shows is public: without credentials, or with other roles, it is answered so far. Bad credentials
   * are refused all the same.
   */
  readonly partlyPublic?: true;
  /** Answered without knowing who asks, so that a policy may make it public; what is public anyway need not say so. */
  readonly mayBePublic?: true;
  /** No policy may restrict it: nobody could sign in, or see from outside whether the service lives. */
  readonly alwaysPublic?: true;
  readonly params?: TObject;
  readonly query?: TObject;
  /** Request headers that change what the operation does, lowercase. */
  readonly headers?: TObject;
  readonly body?: RequestBody;
  /** Answers of success by status. */
  readonly responses: { readonly [status: number]: ResponseBody };
  /** Codes that this operation adds to those of `errorsOf`. */
  readonly errors?: readonly ErrorCode[];
  /** Who calls it is written down, and how it ended: administration, and what concerns credentials. */
  readonly audited?: true;
  /** Answered by an upgrade; `channel` is subscribed at once with the query as filters. Credentials may come later. */
  readonly websocket?: { readonly channel?: ChannelName };
}

const json = <S extends TSchema>(schema: S) => ({ kind: 'json', schema }) as const;
const none = { kind: 'none' } as const;
const bytes = { kind: 'bytes', mediaType: 'application/octet-stream' } as const;

const readers = ['viewer', 'analyst', 'admin'] as const;
const analysts = ['analyst', 'admin'] as const;
const admins = ['admin'] as const;
const senders = ['sensor', 'admin'] as const;
const anyone = ['viewer', 'analyst', 'admin', 'sensor', 'auditor'] as const;
const entryReaders = ['auditor', 'analyst', 'admin'] as const;

const closed = { additionalProperties: false } as const;
const eventParams = Type.Object({ event_id: uuid('Identifier of the event.') }, closed);
const alertParams = Type.Object({ alert_id: uuid('Identifier of the alert.') }, closed);
const keyParams = Type.Object({ key_id: uuid('Identifier (kid) of the key.') }, closed);
/** The longest path of a tile has 37 characters. */
const tilePath = (description: string) => text(description, { minLength: 1, maxLength: 64 });
const tileParams = Type.Object(
  {
    tile: tilePath('<L>/<N> of a full tile, <L>/<N>.p/<W> of one of W columns; N in groups of three digits.'),
  },
  closed,
);
const bundleParams = Type.Object(
  { bundle: tilePath('<N> of a full bundle, <N>.p/<W> of one of W entries; N in groups of three digits.') },
  closed,
);
const tokenParams = Type.Object({ token_id: uuid('Identifier (jti) of the token.') }, closed);

const principalParams = Type.Object({ principal_id: uuid('Identifier of the principal.') }, closed);
const backupParams = Type.Object({ backup_id: uuid('Identifier of the backup.') }, closed);

const ifMatch = Type.Object(
  { 'if-match': Type.Optional(text('The version that is to be changed, in quotes.')) },
  closed,
);
const idempotency = Type.Object(
  {
    'idempotency-key': Type.Optional(
      text('Makes a retry safe for 24 hours: the first answer is repeated.', {
        minLength: 1,
        maxLength: limits.maxIdempotencyKeyBytes,
      }),
    ),
  },
  closed,
);

const ack = Type.Optional(ackMode);
const sensor = Type.Optional(text('Names the sender.', { minLength: 1, maxLength: 200 }));
const ingestQuery = Type.Object({ source: Type.Optional(ingestSource), sensor, ack }, closed);
const typedIngestQuery = Type.Object({ sensor, ack }, closed);
const ingestErrors = ['CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
const ingestMediaTypes = ['application/x-ndjson', 'application/json'] as const;
const oneOrMore = <S extends TSchema>(event: S) => Type.Union([event, Type.Array(event)]);

/**
 * Every operation of the service, by its id. Server, validation, OpenAPI document, typed client and access policy are
 * read from this table.
 */
export const routes = {
  login: {
    method: 'POST',
    path: '/auth/login',
    summary: 'Begin a session with name and password',
    tag: 'auth',
    access: 'public',
    alwaysPublic: true,
    audited: true,
    body: { kind: 'json', schema: LoginInput },
    responses: { 200: json(SessionTokens) },
    errors: ['UNAUTHENTICATED'],
  },
  refresh: {
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Renew the tokens of a session',
    tag: 'auth',
    access: 'public',
    alwaysPublic: true,
    audited: true,
    body: { kind: 'json', schema: RefreshInput },
    responses: { 200: json(SessionTokens) },
    errors: ['UNAUTHENTICATED'],
  },
  logout: {
    method: 'POST',
    path: '/auth/logout',
    summary: 'End the session of the access token',
    tag: 'auth',
    access: anyone,
    audited: true,
    responses: { 204: none },
  },
  whoAmI: {
    method: 'GET',
    path: '/auth/me',
    summary: 'The principal whose credentials these are',
    tag: 'auth',
    access: anyone,
    responses: { 200: json(success('principal')) },
  },
  changePassword: {
    method: 'PUT',
    path: '/auth/password',
    summary: 'Change the password of the caller; the other sessions end',
    tag: 'auth',
    access: anyone,
    audited: true,
    body: { kind: 'json', schema: PasswordInput },
    responses: { 204: none },
    errors: ['CONFLICT'],
  },

  ingest: {
    method: 'POST',
    path: '/api/v1/ingest',
    summary: "Take sensors' records; each is recognised by its shape",
    tag: 'ingest',
    access: senders,
    query: ingestQuery,
    headers: idempotency,
    body: {
      kind: 'ingest',
      mediaTypes: [...ingestMediaTypes, 'text/tab-separated-values', 'text/plain'],
      schema: anyObject('One record of Zeek, Suricata or our own; in JSON also an array of them.'),
    },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  },
  ingestNetworkEvents: {
    method: 'POST',
    path: '/api/v1/events/network',
    summary: 'Take network events in our own shape',
    tag: 'ingest',
    access: senders,
    query: typedIngestQuery,
    headers: idempotency,
    body: {
      kind: 'ingest',
      mediaTypes: ingestMediaTypes,
      schema: oneOrMore(NetworkEventInput),
      table: 'network',
    },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  },
  ingestDnsEvents: {
    method: 'POST',
    path: '/api/v1/events/dns',
    summary: 'Take DNS events in our own shape',
    tag: 'ingest',
    access: senders,
    query: typedIngestQuery,
    headers: idempotency,
    body: { kind: 'ingest', mediaTypes: ingestMediaTypes, schema: oneOrMore(DnsEventInput), table: 'dns' },
    responses: { 200: json(answer(IngestAnswer)) },
    errors: ingestErrors,
  },

  listNetworkEvents: {
    method: 'GET',
    path: '/api/v1/events/network',
    summary: 'List network events',
    tag: 'events',
    access: readers,
    query: networkEventQuery,
    responses: { 200: json(paginated('network_event')) },
  },
  streamNetworkEvents: {
    method: 'GET',
    path: '/api/v1/events/network/stream',
    summary: 'WebSocket stream of network events',
    tag: 'events',
    access: readers,
    query: networkEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.network' },
  },
  getNetworkEvent: {
    method: 'GET',
    path: '/api/v1/events/network/:event_id',
    summary: 'Get one network event',
    tag: 'events',
    access: readers,
    params: eventParams,
    responses: { 200: json(success('network_event')) },
    errors: ['NOT_FOUND'],
  },
  listDnsEvents: {
    method: 'GET',
    path: '/api/v1/events/dns',
    summary: 'List DNS events',
    tag: 'events',
    access: readers,
    query: dnsEventQuery,
    responses: { 200: json(paginated('dns_event')) },
  },
  streamDnsEvents: {
    method: 'GET',
    path: '/api/v1/events/dns/stream',
    summary: 'WebSocket stream of DNS events',
    tag: 'events',
    access: readers,
    query: dnsEventStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'events.dns' },
  },
  getDnsEvent: {
    method: 'GET',
    path: '/api/v1/events/dns/:event_id',
    summary: 'Get one DNS event',
    tag: 'events',
    access: readers,
    params: eventParams,
    responses: { 200: json(success('dns_event')) },
    errors: ['NOT_FOUND'],
  },

  listAlerts: {
    method: 'GET',
    path: '/api/v1/alerts',
    summary: 'List alerts',
    tag: 'alerts',
    access: readers,
    query: alertQuery,
    responses: { 200: json(paginated('alert')) },
  },
  streamAlerts: {
    method: 'GET',
    path: '/api/v1/alerts/stream',
    summary: 'WebSocket stream of alerts',
    tag: 'alerts',
    access: readers,
    query: alertStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'alerts' },
  },
  getAlert: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id',
    summary: 'Get one alert',
    tag: 'alerts',
    access: readers,
    params: alertParams,
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND'],
  },
  updateAlert: {
    method: 'PUT',
    path: '/api/v1/alerts/:alert_id',
    summary: 'Update an alert (assignment, notes, status)',
    tag: 'alerts',
    access: analysts,
    params: alertParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AlertUpdateInput, resource: Alert },
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION', 'VERSION_MISMATCH'],
  },
  listAlertNotes: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id/notes',
    summary: 'List the notes of an alert',
    tag: 'alerts',
    access: readers,
    params: alertParams,
    query: pageQuery,
    responses: { 200: json(paginated('alert_note')) },
    errors: ['NOT_FOUND'],
  },
  addAlertNote: {
    method: 'POST',
    path: '/api/v1/alerts/:alert_id/notes',
    summary: 'Add a note to an alert',
    tag: 'alerts',
    access: analysts,
    params: alertParams,
    body: { kind: 'json', schema: AlertNoteInput, resource: AlertNote },
    responses: { 201: json(success('alert_note')) },
    errors: ['NOT_FOUND'],
  },

  listPrincipals: {
    method: 'GET',
    path: '/api/v1/principals',
    summary: 'List users, sensors and auditors, newest first',
    tag: 'identities',
    access: admins,
    audited: true,
    query: pageQuery,
    responses: { 200: json(paginated('principal')) },
  },
  createPrincipal: {
    method: 'POST',
    path: '/api/v1/principals',
    summary: 'Provision a principal',
    tag: 'identities',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: PrincipalInput, resource: Principal },
    responses: { 201: json(success('principal')) },
    errors: ['CONFLICT'],
  },
  getPrincipal: {
    method: 'GET',
    path: '/api/v1/principals/:principal_id',
    summary: 'Get a principal',
    tag: 'identities',
    access: admins,
    audited: true,
    params: principalParams,
    responses: { 200: json(success('principal')) },
    errors: ['NOT_FOUND'],
  },
  updatePrincipal: {
    method: 'PUT',
    path: '/api/v1/principals/:principal_id',
    summary: 'Change name, roles, status or password of a principal',
    tag: 'identities',
    access: admins,
    audited: true,
    params: principalParams,
    headers: ifMatch,
    body: { kind: 'json', schema: PrincipalUpdateInput, resource: Principal },
    responses: { 200: json(success('principal')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },

  getPolicy: {
    method: 'GET',
    path: '/api/v1/policy',
    summary: 'Who may do what',
    tag: 'identities',
    access: admins,
    audited: true,
    responses: { 200: json(success('policy')) },
  },
  updatePolicy: {
    method: 'PUT',
    path: '/api/v1/policy',
    summary: 'Replace the access policy',
    tag: 'identities',
    access: admins,
    audited: true,
    headers: ifMatch,
    body: { kind: 'json', schema: PolicyInput, resource: Policy },
    responses: { 200: json(success('policy')) },
    errors: ['CONFLICT', 'VERSION_MISMATCH'],
  },
  reloadPolicy: {
    method: 'POST',
    path: '/api/v1/policy/reload',
    summary: 'Read the file of the access policy anew',
    tag: 'identities',
    access: admins,
    audited: true,
    responses: { 200: json(success('policy')) },
    errors: ['CONFLICT'],
  },

  getConfig: {
    method: 'GET',
    path: '/api/v1/config',
    summary: 'Settings in effect and stored for the next start',
    tag: 'system',
    access: admins,
    audited: true,
    responses: { 200: json(success('config')) },
  },
  updateConfig: {
    method: 'PUT',
    path: '/api/v1/config',
    summary: 'Store settings; they take effect after a restart',
    tag: 'system',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: ConfigInput },
    responses: { 200: json(success('config')) },
    errors: ['CONFLICT'],
  },

  listAuditRecords: {
    method: 'GET',
    path: '/api/v1/audit',
    summary: 'Who did or read what, newest first',
    tag: 'identities',
    access: admins,
    audited: true,
    query: auditQuery,
    responses: { 200: json(paginated('audit_record')) },
  },

  listTokens: {
    method: 'GET',
    path: '/api/v1/tokens',
    summary: 'List sessions and long-lived tokens',
    tag: 'identities',
    access: admins,
    audited: true,
    query: pageQuery,
    responses: { 200: json(paginated('token')) },
  },
  issueToken: {
    method: 'POST',
    path: '/api/v1/tokens',
    summary: 'Issue a long-lived token',
    tag: 'identities',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: TokenInput, resource: Token },
    responses: { 201: json(successWith('token', IssuedToken)) },
    errors: ['NOT_FOUND'],
  },
  revokeToken: {
    method: 'DELETE',
    path: '/api/v1/tokens/:token_id',
    summary: 'Revoke a token or end a session',
    tag: 'identities',
    access: admins,
    audited: true,
    params: tokenParams,
    responses: { 204: none },
    errors: ['NOT_FOUND'],
  },

  listBackups: {
    method: 'GET',
    path: '/api/v1/backups',
    summary: 'List backups, newest first',
    tag: 'system',
    access: admins,
    audited: true,
    query: pageQuery,
    responses: { 200: json(paginated('backup')) },
  },
  createBackup: {
    method: 'POST',
    path: '/api/v1/backups',
    summary: 'Begin a backup of the whole service; one at a time',
    tag: 'system',
    access: admins,
    audited: true,
    responses: { 202: json(success('backup')) },
    errors: ['CONFLICT'],
  },
  getBackup: {
    method: 'GET',
    path: '/api/v1/backups/:backup_id',
    summary: 'Get one backup, or how far it is',
    tag: 'system',
    access: admins,
    audited: true,
    params: backupParams,
    responses: { 200: json(success('backup')) },
    errors: ['NOT_FOUND'],
  },

  listKeys: {
    method: 'GET',
    path: '/api/v1/keys',
    summary: 'List the keys of the service, oldest first',
    tag: 'identities',
    access: admins,
    audited: true,
    query: pageQuery,
    responses: { 200: json(paginated('key')) },
  },
  rotateKey: {
    method: 'POST',
    path: '/api/v1/keys/rotate',
    summary: 'Let a new key take over',
    tag: 'identities',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: KeyRotationInput },
    responses: { 200: json(success('key')) },
    errors: ['CONFLICT'],
  },
  retireKey: {
    method: 'POST',
    path: '/api/v1/keys/:key_id/retire',
    summary: 'Give up a pending key',
    tag: 'identities',
    access: admins,
    audited: true,
    params: keyParams,
    responses: { 200: json(success('key')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION', 'CONFLICT'],
  },
  revokeKey: {
    method: 'POST',
    path: '/api/v1/keys/:key_id/revoke',
    summary: 'Revoke a compromised key; another one takes its place',
    tag: 'identities',
    access: admins,
    audited: true,
    params: keyParams,
    body: { kind: 'json', schema: KeyRevocationInput },
    responses: { 200: json(success('key')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION', 'CONFLICT'],
  },

  getStatus: {
    method: 'GET',
    path: '/api/v1/status',
    summary: 'System status',
    tag: 'system',
    access: readers,
    responses: { 200: json(success('status')) },
  },
  getOpenApi: {
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'This description',
    tag: 'system',
    access: 'public',
    responses: { 200: json(anyObject('An OpenAPI 3.1 document.')) },
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    summary: 'Health check',
    tag: 'system',
    access: 'public',
    alwaysPublic: true,
    responses: { 200: json(Health), 503: json(Health) },
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    tag: 'system',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; version=0.0.4; charset=utf-8' } },
  },
  connect: {
    method: 'GET',
    path: '/ws',
    summary: 'WebSocket for subscriptions',
    tag: 'system',
    access: readers,
    responses: { 101: none },
    websocket: {},
  },

  getTreeHead: {
    method: 'GET',
    path: '/api/transparency/sth',
    summary: 'Signed tree head',
    tag: 'transparency',
    access: 'public',
    query: treeHeadQuery,
    responses: { 200: json(SignedTreeHead) },
    errors: ['LOG_EMPTY', 'NOT_FOUND'],
  },
  getInclusionProof: {
    method: 'GET',
    path: '/api/transparency/inclusion',
    summary: 'Proof that a leaf is in a tree',
    tag: 'transparency',
    access: 'public',
    query: inclusionQuery,
    responses: { 200: json(InclusionProof) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getConsistencyProof: {
    method: 'GET',
    path: '/api/transparency/consistency',
    summary: 'Proof that a tree extends an earlier one',
    tag: 'transparency',
    access: 'public',
    query: consistencyQuery,
    responses: { 200: json(ConsistencyProof) },
  },
  getLeaf: {
    method: 'GET',
    path: '/api/transparency/leaf',
    summary: 'A log entry and its canonical bytes',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(Leaf) },
    errors: ['NOT_FOUND'],
  },
  listTreeHeads: {
    method: 'GET',
    path: '/api/transparency/sths',
    summary: 'The history of signed tree heads, oldest first',
    tag: 'transparency',
    access: 'public',
    query: treeHeadsQuery,
    responses: { 200: json(listed('tree_head', treeHeadId, SignedTreeHead)) },
  },
  listEntries: {
    method: 'GET',
    path: '/api/transparency/entries',
    summary: 'Log entries by leaf index and kind, oldest first; those of kinds key.… for everybody',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: entriesQuery,
    responses: { 200: json(listed('log_entry', uuid('Id of the entry.'), Leaf)) },
  },
  getProofBundle: {
    method: 'GET',
    path: '/api/transparency/proof',
    summary: 'A log entry with all that shows it to be in the log, to be verified offline',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(ProofBundle) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getCheckpoint: {
    method: 'GET',
    path: '/checkpoint',
    summary: 'The latest tree head as a signed note (C2SP tlog-checkpoint)',
    tag: 'transparency',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; charset=utf-8' } },
    errors: ['LOG_EMPTY'],
  },
  getTile: {
    method: 'GET',
    path: '/tile/:tile*',
    summary: 'Hashes of the tree (C2SP tlog-tiles)',
    tag: 'transparency',
    access: 'public',
    params: tileParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  getEntryBundle: {
    method: 'GET',
    path: '/tile/entries/:bundle*',
    summary: 'Canonical bytes of log entries (C2SP tlog-tiles)',
    tag: 'transparency',
    access: entryReaders,
    mayBePublic: true,
    params: bundleParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  getKeySet: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    summary: 'Every public key ever used',
    tag: 'transparency',
    access: 'public',
    responses: { 200: json(JsonWebKeySet) },
  },
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type OperationId = keyof Routes;
export const operationIds = Object.keys(routes) as OperationId[];

/** The entry of the table as a plain `Route`, for code that treats all operations alike. */
export const routeOf = (operation: OperationId): Route => routes[operation];

/** Every error that an operation can answer with: its own and those that follow from its shape. */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors).add('INVALID_REQUEST');
  if (route.alwaysPublic === undefined) codes.add('UNAUTHENTICATED').add('FORBIDDEN');
  if (route.body) codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  return [...codes.add('RATE_LIMITED').add('INTERNAL').add('OVERLOADED').add('UNAVAILABLE')];
}
