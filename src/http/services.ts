import type { Logger } from 'pino';
import type { Queries } from '../analytics/queries.ts';
import type { Caller } from '../auth/access.ts';
import type { AccessPolicy } from '../auth/access-policy.ts';
import type { ChangePassword } from '../auth/change-password.ts';
import type { TokenTerms } from '../auth/long-lived.ts';
import type { Provision } from '../auth/provision.ts';
import type { SignIn } from '../auth/sign-in.ts';
import type { Backups } from '../backup/backups.ts';
import type { Config } from '../config/settings.ts';
import type { StoredSettings } from '../config/stored-settings.ts';
import type { Status, WitnessStatus } from '../contract/resources/status.ts';
import type { Scans } from '../discovery/scans.ts';
import type { IngestInput } from '../ingest/parse-body.ts';
import type { Ledger, LedgerStatus, LogReader } from '../ledger/ledger.ts';
import type { ProofBundles } from '../ledger/proof-bundles.ts';
import type { Pool } from '../rpc/pool.ts';
import type { DetectionRules } from '../rules/detection-rules.ts';
import type { IntelLists } from '../rules/intel/intel-lists.ts';
import type { SiemDamage } from '../store/siem-damage.ts';
import type {
  AlertUpdate,
  Committed,
  ListPage,
  ListQuery,
  Principal,
  Store,
  StoreReader,
  Token,
} from '../store/store.ts';
import type { Authenticator } from './endpoint.ts';
import type { HealthCheck } from './health.ts';
import type { ParsedShare } from './ingest-queue.ts';
import type { Metrics } from './metrics.ts';
import type { LogReadRate } from './request-rate.ts';
import type { TopologyGate } from './topology-gate.ts';
import type { Turns } from './turns.ts';

/** What the operations need of the rest of the service. The composition root puts it together. */
export interface Services {
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly config: Config;
  readonly settings: StoredSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  /** Point reads, on this thread. */
  readonly reader: Pick<
    StoreReader,
    | 'assets'
    | 'damagedEvents'
    | 'getEvent'
    | 'isPast'
    | 'getAlert'
    | 'getAsset'
    | 'mergedInto'
    | 'getService'
    | 'getReceipt'
    | 'getScan'
    | 'getSilence'
    | 'principal'
    | 'principalByName'
    | 'token'
    | 'administrators'
    | 'triageModel'
  >;
  readonly policy: AccessPolicy;
  readonly ledger: Ledger;
  /** The status of the log, with the findings of its witnesses. Rejects as `ledger.status`. */
  logStatus(): Promise<LedgerStatus>;
  /** Everything that requests read from the log. Bundles come from `proofBundles`, which add the checkpoint. */
  readonly logReader: LogReader;
  readonly proofBundles: Pick<ProofBundles, 'get'>;
  /** How often an address may read the log without an identity; undefined for as often as it likes. */
  readonly logRate: Pick<LogReadRate, 'take'> | undefined;
  readonly health: HealthCheck;
  /** The checkpoint that may be shown, as a note. LOG_EMPTY; UNAVAILABLE while the witnesses that it wants are missing. */
  checkpoint(): Promise<string>;
  readonly auth: Auth;
  readonly backups: Backups;
  readonly scans: Pick<Scans, 'start' | 'cancel' | 'current' | 'counts'>;
  readonly rules: Pick<
    DetectionRules,
    | 'list'
    | 'get'
    | 'create'
    | 'update'
    | 'remove'
    | 'reload'
    | 'validate'
    | 'test'
    | 'count'
    | 'wereSlow'
    | 'slow'
  >;
  readonly intel: Pick<IntelLists, 'list' | 'get' | 'indicators' | 'create' | 'update' | 'remove'>;
  /** The threads that parse bodies, with the rules that are in effect: the body is moved. OVERLOADED when too many wait. */
  ingest(input: IngestInput): Promise<ParsedShare>;
  /**
   * The analytics pool. OVERLOADED when its queue is full, RATE_LIMITED when the caller has as many queries under way as
   * one may; CANCELLED when the signal is aborted.
   */
  readonly queries: Pick<Pool<Queries>, 'run'>;
  /** Takes damage of siem.mdb that a read on this thread met. */
  readonly damage: Pick<SiemDamage, 'report'>;
  /** Lists that are being sent whole. */
  readonly exports: Pick<Turns, 'take'>;
  /** Changes of many alerts that are under way. */
  readonly bulkChanges: Pick<Turns, 'take'>;
  /** The graph of flows, before which others may have to be made. */
  readonly topology: Pick<TopologyGate, 'ask'>;
  /** Of the ledger's keys; there are few. */
  listKeys(query: ListQuery): Promise<ListPage>;
  /** Live subscribers. The buffers of the blocks stay the caller's. */
  publish(committed: Pick<Committed, 'blocks' | 'alerts'>): void;
  publishAlert(update: AlertUpdate): void;
  /** There are rows in the outbox. Returns at once. */
  pokeOutbox(): void;
  /** A token or session was revoked: what was opened with it is closed. */
  revoked(jti: string): void;
  /** A principal's roles, status or password changed, or sessions of it ended: what it opened is judged anew. */
  principalChanged(id: string): void;
  /** A key was rotated or revoked: resolves when access tokens are signed and verified with the keys of now. */
  keysChanged(): Promise<void>;
  /** Undefined where none is configured. */
  witnesses(): WitnessStatus | undefined;
  /** Absent while sealing of events is off. */
  readonly sealing?: () => NonNullable<Status['sealing']>;
  threads(): Status['threads'];
  sockets(): Status['sockets'];
  /** False while starting or stopping. */
  ready(): boolean;
}

/** Credentials: sessions, passwords, principals, long-lived tokens. */
export interface Auth extends SignIn, ChangePassword, Provision {
  /** What the front does with the credentials of operations that are not public. */
  readonly authenticate: Authenticator;
  /** As the function of that name. */
  issueLongLived(
    principal: Principal,
    terms: TokenTerms,
    by: Caller,
  ): Promise<{ token: string; record: Token }>;
}
