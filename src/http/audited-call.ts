import { formats } from '../contract/formats.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import type { LoginInput } from '../contract/resources/session.ts';
import type { OperationId, Route } from '../contract/routes.ts';
import { errorCodes, RefusedCredentials, type ServiceError } from '../errors.ts';
import { uuid7 } from '../uuid.ts';
import type { Endpoint, Identity } from './endpoint.ts';
import type { Reply } from './reply.ts';

/**
 * How the calls of an operation are written down: `read`; `account`: a change that people make to what is their own
 * (sessions, password) or to what they work on; `administration`: a change that only administrators may make, or of
 * which each is wanted; `ingest`: only what was not stored of what a sensor sent.
 */
export type AuditedAs = 'read' | 'account' | 'administration' | 'ingest';

/** Undefined for operations whose calls are not written down. */
export function auditedAs({ audited, method, access, body, protocol }: Route): AuditedAs | undefined {
  if (body?.kind === 'ingest' || protocol !== undefined) return 'ingest';
  if (audited === undefined) return undefined;
  if (method === 'GET') return 'read';
  if (audited === 'each') return 'administration';
  return access !== 'public' && access.every((role) => role === 'admin') ? 'administration' : 'account';
}

/** Actor of calls without credentials, or with bad ones. */
export const anonymous = 'anonymous';

/** Characters kept of a name that somebody gave: as many as a name may have. */
const maxNameLength = 200;

/** One call of an audited operation, as far as it is known. Nothing in it is a secret, a query or a body. */
export class AuditedCall {
  /** No other call has it, whatever request ids clients give. */
  readonly id = uuid7(Date.now());
  readonly operation: string;
  #as: AuditedAs;
  readonly #params: ReadonlyMap<string, string>;
  readonly #requestId: string;
  readonly sourceAddress: string;
  /** Set as soon as the credentials are known to be good, whether they suffice or not. */
  identity: Identity | undefined;
  #nameGiven: string | undefined;
  #entryIds: string[] = [];
  #countedAlone = false;
  /** Rejected records of a sensor's body, and why they were rejected. */
  rejected: { readonly count: number; readonly reasons: readonly string[] } | undefined;

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

  /** Takes the name that a login gives from its body. */
  noteBody(operation: OperationId, body: unknown): void {
    if (operation === 'login')
      this.#nameGiven = (body as LoginInput).username.slice(0, maxNameLength).toWellFormed();
  }

  /**
   * It has caused entries of the transparency log, from which its record must be found.
   *
   * @param entryIds - those that the store doesn't know of, which adds its own
   */
  noteEntries(entryIds: readonly string[] = []): void {
    this.#countedAlone = true;
    this.#entryIds.push(...entryIds);
  }

  get as(): AuditedAs {
    return this.#as;
  }

  /** It has changed nothing, and nobody will look for its record: it is counted as what people do for themselves is. */
  noteNoChange(): void {
    if (this.#as === 'administration') this.#as = 'account';
  }

  /** Not counted among others, however many there are. */
  get countedAlone(): boolean {
    return this.#countedAlone;
  }

  /** What is written down of a success at `now` (epoch milliseconds). */
  succeeded(reply: Reply, now: number): AuditRecord {
    const session = sessionIn(reply);
    return {
      ...this.#actor(session?.sub),
      ...this.#circumstances(resourceOf(reply, session?.jti) ?? this.#named() ?? this.#own()),
      outcome: 'success',
      time: new Date(now).toISOString(),
    };
  }

  /** The sender, as far as its credentials say. */
  sender(error: ServiceError): Identity['principal'] | undefined {
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

  /** What the path names: `…/tokens/:token_id` a token. Only by an identifier: anything else may be a secret. */
  #named(): AuditRecord['resource'] {
    const [parameter] = this.#params;
    if (parameter === undefined || !formats.uuid.test(parameter[1])) return undefined;
    return { type: parameter[0].replace(/_id$/, ''), id: parameter[1].toLowerCase() };
  }

  #own(): AuditRecord['resource'] {
    return this.identity === undefined ? undefined : onOwn[this.operation]?.(this.identity);
  }
}

/** Operations whose path names nothing, because they are on what is the caller's own. */
const onOwn: Readonly<Record<string, (identity: Identity) => AuditRecord['resource']>> = {
  changePassword: ({ principal }) => ({ type: 'principal', id: principal.id }),
  logout: ({ jti }) => (jti === undefined ? undefined : { type: 'token', id: jti }),
};

/** Undefined for calls that are not written down. */
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

/** Whose session began or goes on, and which one: as the access token says that the answer hands out. */
function sessionIn(reply: Reply): { readonly sub: string; readonly jti: string } | undefined {
  if (reply.kind !== 'bare' || typeof reply.body !== 'string') return undefined;
  const { access_token } = JSON.parse(reply.body) as { access_token?: string };
  const claims = access_token?.split('.')[1];
  return claims === undefined ? undefined : JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
}
