import { formats } from '../contract/formats.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import type { LoginInput } from '../contract/resources/session.ts';
import type { OperationId, Route } from '../contract/routes.ts';
import { errorCodes, RefusedCredentials, type ServiceError } from '../errors.ts';
import type { UnstoredRecords } from '../ingest/unstored.ts';
import { uuid7 } from '../uuid.ts';
import type { Authenticated, Endpoint } from './endpoint.ts';
import type { Reply } from './reply.ts';

/**
 * How calls of an operation are recorded.
 *
 * `read`: reads. `account`: users' changes of their own sessions and password, and changes in daily work.
 * `administration`: changes that only administrators may make, or that always need a record. `ingest`: only a
 * sensor's data that was not stored.
 */
export type AuditedAs = 'read' | 'account' | 'administration' | 'ingest';

/** Returns how calls of an operation are recorded; undefined if its calls are not recorded. */
export function auditedAs({ audited, method, access, body, protocol }: Route): AuditedAs | undefined {
  if (body?.kind === 'ingest' || protocol !== undefined) return 'ingest';
  if (audited === undefined) return undefined;
  if (method === 'GET') return 'read';
  if (audited === 'each') return 'administration';
  return access !== 'public' && access.every((role) => role === 'admin') ? 'administration' : 'account';
}

/** The actor of calls without valid credentials. */
export const anonymous = 'anonymous';

/** Submitted names are truncated to this length, the maximum of a valid name. */
const maxNameLength = 200;

/** One call of an audited operation. Contains no secrets, queries or bodies. */
export class AuditedCall {
  /** Id of the call. It is unique, unlike request ids, which clients choose. */
  readonly id = uuid7(Date.now());
  readonly operation: string;
  #as: AuditedAs;
  readonly #params: ReadonlyMap<string, string>;
  readonly #requestId: string;
  readonly sourceAddress: string;
  /** The caller. Set once the credentials are found valid, even if their roles do not suffice. */
  identity: Authenticated | undefined;
  #nameGiven: string | undefined;
  #entryIds: string[] = [];
  #countedAlone = false;
  /** Records of a sensor's body that were rejected or ignored. */
  unstored: readonly UnstoredRecords[] = [];

  constructor(
    operation: string,
    as: AuditedAs,
    params: ReadonlyMap<string, string>,
    requestId: string,
    sourceAddress: string,
  ) {
    this.operation = operation;
    this.#as = as;
    this.#params = params;
    this.#requestId = requestId;
    this.sourceAddress = sourceAddress;
  }

  /** Records the name in the body of a login. */
  noteBody(operation: OperationId, body: unknown): void {
    if (operation === 'login') this.#nameGiven = (body as LoginInput).username.slice(0, maxNameLength).toWellFormed();
  }

  /**
   * Marks the call as the cause of transparency log entries. Users must be able to find the audit record of the call
   * from these entries.
   *
   * @param entryIds - ids of entries that are not in the store's outbox; the store adds the ids of entries in its
   *   outbox
   */
  noteEntries(entryIds: readonly string[] = []): void {
    this.#countedAlone = true;
    this.#entryIds.push(...entryIds);
  }

  get as(): AuditedAs {
    return this.#as;
  }

  /**
   * Marks the call as a call that changed nothing. No log entry refers to its record, so the call is counted like an
   * account call.
   */
  noteNoChange(): void {
    if (this.#as === 'administration') this.#as = 'account';
  }

  /** Whether the call caused log entries, and therefore has an individual record. */
  get countedAlone(): boolean {
    return this.#countedAlone;
  }

  /** Returns the record of a success at `now` (epoch milliseconds). */
  succeeded(reply: Reply, now: number): AuditRecord {
    const session = sessionIn(reply);
    return {
      ...this.#actor(session?.sub),
      ...this.#circumstances(resourceOf(reply, session?.jti) ?? this.#named() ?? this.#own()),
      outcome: 'success',
      time: new Date(now).toISOString(),
    };
  }

  /** Returns the sender of the request; undefined if the credentials do not identify a principal. */
  sender(error: ServiceError): Authenticated['principal'] | undefined {
    return this.identity?.principal ?? (error instanceof RefusedCredentials ? error.principal : undefined);
  }

  failed(error: ServiceError, now: number): AuditRecord {
    const { status } = errorCodes[error.code];
    const sender = this.sender(error);
    return {
      ...this.#actor(undefined),
      ...(sender && { actor: sender.id, actor_name: sender.name }),
      ...this.#circumstances(this.#named() ?? this.#own()),
      outcome: status === 401 || status === 403 ? 'refused' : 'failed',
      code: error.code,
      time: new Date(now).toISOString(),
    };
  }

  #actor(signedIn: string | undefined): Pick<AuditRecord, 'actor' | 'actor_name'> {
    if (this.identity !== undefined) {
      const { id, name } = this.identity.principal;
      return { actor: id, actor_name: name };
    }
    const name = this.#nameGiven;
    return { actor: signedIn ?? anonymous, ...(name === undefined ? {} : { actor_name: name }) };
  }

  #circumstances(resource: AuditRecord['resource']) {
    return {
      operation: this.operation,
      ...(resource === undefined ? {} : { resource }),
      request_id: this.#requestId,
      source_address: this.sourceAddress,
      ...(this.#entryIds.length === 0 ? {} : { entry_ids: this.#entryIds }),
    };
  }

  /**
   * Returns the resource in the path: a token for `…/tokens/:token_id`. Only ids are recorded, because other
   * path segments may be secrets.
   */
  #named(): AuditRecord['resource'] {
    const [parameter] = this.#params;
    if (parameter === undefined || !formats.uuid.test(parameter[1])) return undefined;
    return { type: parameter[0].replace(/_id$/, ''), id: parameter[1].toLowerCase() };
  }

  #own(): AuditRecord['resource'] {
    return this.identity === undefined ? undefined : onOwn[this.operation]?.(this.identity);
  }
}

/** Operations on the caller's own resources, whose ids are not in the path. */
const onOwn: Readonly<Record<string, (identity: Authenticated) => AuditRecord['resource']>> = {
  changePassword: ({ principal }) => ({ type: 'principal', id: principal.id }),
  logout: ({ jti }) => (jti === undefined ? undefined : { type: 'token', id: jti }),
};

/** Returns the audited call of an operation; undefined if its calls are not recorded. */
export function auditedCall(
  { operation, audited }: Pick<Endpoint, 'operation' | 'audited'>,
  params: ReadonlyMap<string, string>,
  requestId: string,
  sourceAddress: string,
): AuditedCall | undefined {
  if (audited === undefined) return undefined;
  return new AuditedCall(operation, audited, params, requestId, sourceAddress);
}

function resourceOf(reply: Reply, session: string | undefined): AuditRecord['resource'] {
  if (session !== undefined) return { type: 'token', id: session };
  return reply.kind === 'resource' ? { type: reply.type, id: reply.id } : undefined;
}

/**
 * Returns the user and id of the session that began or was refreshed, from the access token in the response.
 */
function sessionIn(reply: Reply): { readonly sub: string; readonly jti: string } | undefined {
  if (reply.kind !== 'bare' || typeof reply.body !== 'string') return undefined;
  const { access_token } = JSON.parse(reply.body) as { access_token?: string };
  const claims = access_token?.split('.')[1];
  return claims === undefined ? undefined : JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
}
