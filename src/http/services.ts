import type { Logger } from 'pino';
import type { LogReadRate } from '../admission/request-rate.ts';
import type { Semaphore } from '../admission/semaphore.ts';
import type { Queries } from '../analytics/queries.ts';
import type { Backups } from '../backup/backups.ts';
import type { Config } from '../config/settings.ts';
import type { StoredSettings } from '../config/stored-settings.ts';
import type { Status, WitnessStatus } from '../contract/resources/status.ts';
import type { Scans } from '../discovery/scans.ts';
import type { Caller } from '../identities/access.ts';
import type { AccessPolicy } from '../identities/access-policy.ts';
import type { ChangePassword } from '../identities/change-password.ts';
import type { TokenOptions } from '../identities/long-lived.ts';
import type { Provision } from '../identities/provision.ts';
import type { SignIn } from '../identities/sign-in.ts';
import type { IngestPipeline } from '../ingest/pipeline.ts';
import type { Ledger, LedgerStatus, LogReader } from '../ledger/ledger.ts';
import type { ProofBundles } from '../ledger/proof-bundles.ts';
import type { HealthCheck } from '../observability/health.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Pool } from '../rpc/pool.ts';
import type { DetectionRules } from '../rules/detection-rules.ts';
import type { IntelLists } from '../rules/intel/intel-lists.ts';
import type { SiemDamage } from '../store/siem-damage.ts';
import type { ListPage, ListQuery, Principal, Store, StoreReader, Token } from '../store/store.ts';
import type { Authenticator } from './endpoint.ts';
import type { SingleFlight } from './single-flight.ts';

/** The parts of the service that operations use, assembled by the composition root. */
export interface Services {
  readonly version: string;
  /** When the service started, epoch milliseconds. */
  readonly startedAt: number;
  readonly config: Config;
  readonly settings: StoredSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  /** The reader of single rows, which reads on this thread. */
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
  /**
   * Returns the status of the log, with the findings of its witnesses. Rejects with the errors of
   * `ledger.status`.
   */
  logStatus(): Promise<LedgerStatus>;
  /** Reads the log, except proof bundles: these come from `proofBundles`, which adds the checkpoint. */
  readonly logReader: LogReader;
  readonly proofBundles: Pick<ProofBundles, 'get'>;
  /** The rate limit for unauthenticated reads of the log per address; undefined for no limit. */
  readonly logRate: Pick<LogReadRate, 'take'> | undefined;
  readonly health: HealthCheck;
  /**
   * Returns the published checkpoint as a note. Throws LOG_EMPTY, or UNAVAILABLE while required witnesses are
   * missing.
   */
  checkpoint(): Promise<string>;
  readonly auth: Auth;
  readonly backups: Backups;
  readonly scans: Pick<Scans, 'start' | 'cancel' | 'current' | 'counts'>;
  readonly rules: Pick<
    DetectionRules,
    'list' | 'get' | 'create' | 'update' | 'remove' | 'reload' | 'validate' | 'test' | 'count' | 'wereSlow' | 'slow'
  >;
  readonly intel: Pick<IntelLists, 'list' | 'get' | 'indicators' | 'create' | 'update' | 'remove'>;
  readonly ingest: Pick<IngestPipeline, 'add'>;
  /**
   * The analytics pool. `run` throws OVERLOADED if the queue is full, RATE_LIMITED if the caller has too many
   * queries in progress, and CANCELLED if the signal is aborted.
   */
  readonly queries: Pick<Pool<Queries>, 'run'>;
  /** Receives damage of siem.mdb that a read on this thread found. */
  readonly damage: Pick<SiemDamage, 'report'>;
  /** Limits exports in progress. */
  readonly exports: Pick<Semaphore, 'take'>;
  /** Limits bulk changes of alerts in progress. */
  readonly bulkChanges: Pick<Semaphore, 'take'>;
  /** Computes the graph of flows. Requests may wait for other graphs. */
  readonly topology: Pick<SingleFlight, 'ask'>;
  /** Lists the ledger's keys on this thread, because there are few. */
  listKeys(query: ListQuery): Promise<ListPage>;
  /** Closes the WebSockets of a token or session that was revoked. */
  revoked(jti: string): void;
  /** Checks the WebSockets of a principal again after a change of its roles, status, password or sessions. */
  principalChanged(id: string): void;
  /**
   * Must be called after a key was rotated or revoked. Resolves when access tokens are signed and verified
   * with the current keys.
   */
  keysChanged(): Promise<void>;
  /** Returns the status of the witnesses; undefined if none is configured. */
  witnesses(): WitnessStatus | undefined;
  /** Returns the status of event sealing; absent if sealing is off. */
  readonly sealing?: () => NonNullable<Status['sealing']>;
  threads(): Status['threads'];
  sockets(): Status['sockets'];
  /** Returns whether the service is neither starting nor stopping. */
  ready(): boolean;
}

/** Manages credentials: sessions, passwords, principals and long-lived tokens. */
export interface Auth extends SignIn, ChangePassword, Provision {
  /** Authenticates operations that are not public. */
  readonly authenticate: Authenticator;
  /** Issues a long-lived token; see the function `issueLongLived`. */
  issueLongLived(principal: Principal, options: TokenOptions, by: Caller): Promise<{ token: string; record: Token }>;
}
