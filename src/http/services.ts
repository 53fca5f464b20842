import type { Logger } from 'pino';
import type { Caller } from '../auth/access.ts';
import type { AccessPolicy } from '../auth/access-policy.ts';
import type { Backups } from '../backup/backups.ts';
import type { Config } from '../config/settings.ts';
import type { StoredSettings } from '../config/stored-settings.ts';
import type { PrincipalInput, PrincipalUpdateInput, Role } from '../contract/resources/principal.ts';
import type { LoginInput, PasswordInput, SessionTokens } from '../contract/resources/session.ts';
import type { Status, WitnessStatus } from '../contract/resources/status.ts';
import type { IngestInput, ParsedBody } from '../ingest/parse-body.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type {
  AlertListQuery,
  AlertUpdate,
  AuditListQuery,
  Committed,
  EventListQuery,
  ListPage,
  Principal,
  PrincipalChanged,
  Store,
  StoreReader,
  Token,
} from '../store/store.ts';
import type { Identity } from './endpoint.ts';
import type { Metrics } from './metrics.ts';

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
    'getEvent' | 'getAlert' | 'listNotes' | 'principal' | 'listPrincipals' | 'listTokens' | 'administrators'
  >;
  readonly policy: AccessPolicy;
  readonly ledger: Ledger;
  /** The checkpoint that may be shown, as a note. LOG_EMPTY; UNAVAILABLE while the witnesses that it wants are missing. */
  checkpoint(): Promise<string>;
  readonly auth: Auth;
  readonly backups: Backups;
  /** The task of the ingest pool: the body is moved. OVERLOADED when its queue is full. */
  ingest(input: IngestInput): Promise<ParsedBody>;
  /** Lists, in the analytics pool. OVERLOADED when its queue is full; CANCELLED when the signal is aborted. */
  readonly queries: {
    listEvents(query: EventListQuery, signal: AbortSignal): Promise<ListPage>;
    listAlerts(query: AlertListQuery, signal: AbortSignal): Promise<ListPage>;
    listAudit(query: AuditListQuery, signal: AbortSignal): Promise<ListPage>;
  };
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
  threads(): Status['threads'];
  sockets(): Status['sockets'];
  /** False while starting or stopping. */
  ready(): boolean;
}

/** Sessions and long-lived tokens. */
export interface Auth {
  /**
   * UNAUTHENTICATED; RATE_LIMITED after too many failures of one account or from one address. `ended` is told of
   * sessions that end for it, because the principal has too many.
   */
  login(input: LoginInput, remoteAddress: string, ended: (jti: string) => void): Promise<SessionTokens>;
  /** UNAUTHENTICATED; a refresh token that was used before ends its session, of which `ended` is told. */
  refresh(refreshToken: string, ended: (jti: string) => void): Promise<SessionTokens>;
  /** Ends the session, or revokes the token, of these credentials. INVALID_REQUEST for a certificate. */
  logout(identity: Pick<Identity, 'principal' | 'jti'>): Promise<void>;
  /**
   * Changes the caller's own password; its other sessions end. INVALID_REQUEST for a wrong current one, which counts as
   * a failed login; CONFLICT for a caller without a password.
   */
  changePassword(
    caller: Pick<Identity, 'principal' | 'jti'>,
    input: PasswordInput,
    remoteAddress: string,
  ): Promise<PrincipalChanged>;
  /** INVALID_REQUEST for a name or a password that won't do; CONFLICT for a name that is taken. */
  createPrincipal(input: PrincipalInput, by: Caller): Promise<Principal>;
  /** As `createPrincipal` and `Store.changePrincipal`. A new password ends all sessions. */
  changePrincipal(
    principal: Principal,
    input: PrincipalUpdateInput,
    by: Caller,
    version?: number,
  ): Promise<PrincipalChanged>;
  /** INVALID_REQUEST for a suspended principal, for roles that it does not have, and for an end in the past. */
  issueLongLived(
    principal: Principal,
    terms: TokenTerms,
    by: Caller,
  ): Promise<{ token: string; record: Token }>;
}

export interface TokenTerms {
  readonly name: string;
  readonly roles: readonly Role[];
  /** ISO 8601; absent for never. */
  readonly expires_at?: string;
}
