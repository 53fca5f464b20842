import type { Logger } from 'pino';
import type { Backups } from '../backup/backups.ts';
import type { Config } from '../config.ts';
import type { Role } from '../contract/resources/principal.ts';
import type { LoginInput, SessionTokens } from '../contract/resources/session.ts';
import type { Status, WitnessStatus } from '../contract/resources/status.ts';
import type { IngestInput, ParsedBody } from '../ingest/parse-body.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type {
  Actor,
  AlertListQuery,
  AlertUpdate,
  Committed,
  EventListQuery,
  ListPage,
  Principal,
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
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  /** Point reads, on this thread. */
  readonly reader: Pick<StoreReader, 'getEvent' | 'getAlert' | 'listNotes' | 'principal' | 'tokens'>;
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
  };
  /** Live subscribers. The buffers of the blocks stay the caller's. */
  publish(committed: Pick<Committed, 'blocks' | 'alerts'>): void;
  publishAlert(update: AlertUpdate): void;
  /** There are rows in the outbox. Returns at once. */
  pokeOutbox(): void;
  /** A token or session was revoked: what was opened with it is closed. */
  revoked(jti: string): void;
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
  /** UNAUTHENTICATED; RATE_LIMITED after too many failures of one account or from one address. */
  login(input: LoginInput, remoteAddress: string): Promise<SessionTokens>;
  /** UNAUTHENTICATED; a refresh token that was used before ends its session, of which `ended` is told. */
  refresh(refreshToken: string, ended: (jti: string) => void): Promise<SessionTokens>;
  /** Ends the session, or revokes the token, of these credentials. */
  logout(identity: Identity): Promise<void>;
  /** INVALID_REQUEST for roles that the principal does not have, and for an end in the past. */
  issueLongLived(
    principal: Principal,
    terms: TokenTerms,
    by: Actor,
  ): Promise<{ token: string; record: Token }>;
}

export interface TokenTerms {
  readonly name: string;
  readonly roles: readonly Role[];
  /** ISO 8601; absent for never. */
  readonly expires_at?: string;
}
