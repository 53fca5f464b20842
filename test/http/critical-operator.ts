import { expect } from 'vitest';
import { adminPassword, type Service, startService } from '../../scripts/service.ts';
import { fetchHead, proveEntry } from '../../src/client/auditor.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import type { AuditRecord } from '../../src/contract/resources/audit-record.ts';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import type { EntryKind } from '../../src/contract/vocabulary.ts';
import { type Answer, call, type Item, type Page, type Request, send } from '../system/call.ts';

export interface Entry {
  readonly id: string;
  readonly kind: EntryKind;
  readonly occurred_at: string;
  readonly actor: string;
  readonly subject: { readonly type: string; readonly id: string };
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Leaf {
  readonly leaf_index: number;
  readonly canonical: string;
  readonly entry: Entry;
}

/** The required content of an entry. */
export type Wanted = Pick<Entry, 'kind' | 'actor' | 'subject' | 'data'> & {
  /** The operation that caused the entry; absent for entries that sensors or the service caused. */
  readonly through?: OperationId;
};

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

export const itemOf = (body: unknown) => (body as { data: Item }).data;

export const jtiOf = ({ access_token }: Tokens): string =>
  JSON.parse(Buffer.from(access_token.split('.')[1]!, 'base64url').toString('utf8')).jti;

/** Returns the secret part of a token. The identifier part is in the log. */
const secretIn = (token: string): string => /[0-9a-f-]{36}_(.+)$/.exec(token)![1]!;

type Subject = Pick<Wanted, 'kind' | 'subject'> & Partial<Pick<Wanted, 'data'>>;

/** Returns whether the entry has this kind and subject. Entries about the access policy differ in the version. */
export const isOf = ({ kind, subject, data }: Subject, { entry }: Leaf) =>
  entry.kind === kind &&
  entry.subject.type === subject.type &&
  entry.subject.id === subject.id &&
  (data?.version === undefined || entry.data.version === data.version);

/** An administrator of a running service, who triggers logged actions over HTTP and reads their entries. */
export class CriticalOperator {
  service!: Service;
  token = '';
  /** The administrator's principal. */
  adminId = '';
  /** Texts that no entry may contain. */
  readonly secrets = new Set<string>([adminPassword]);
  /** Operations by request id. */
  readonly requests = new Map<string, OperationId>();

  async start(dataDir: string): Promise<void> {
    // With a long overlap, new keys stay pending during the test.
    const env = { CANDOR_KEYS_OVERLAP_MS: String(30 * 24 * 3600 * 1000) };
    this.service = await startService({ dataDir, env });
    this.token = (await this.signIn()).access_token;
    this.adminId = itemOf(await this.ask('whoAmI')).id;
  }

  /** Calls an operation with a new request id, and records it in `requests`. */
  async ask(operation: OperationId, request: Request = {}, status = 200): Promise<unknown> {
    const answer = await this.try(operation, { token: this.token, ...request });
    if (answer.status !== status) throw new Error(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async try(operation: OperationId, request: Request = {}): Promise<Answer> {
    const id = crypto.randomUUID();
    this.requests.set(id, operation);
    return call(this.service, operation, { ...request, headers: { 'x-request-id': id } });
  }

  async signIn(username = 'admin', password = adminPassword): Promise<Tokens> {
    const { body, status } = await this.try('login', { json: { username, password } });
    if (status !== 200) throw new Error(`login: ${status} ${JSON.stringify(body)}`);
    return this.keep(body as Tokens);
  }

  keep(tokens: Tokens): Tokens {
    const { access_token, refresh_token } = tokens;
    // The secret of a refresh token and the signature of an access token are also searched for separately.
    for (const text of [access_token, refresh_token, secretIn(refresh_token), access_token.split('.')[2]!])
      this.secrets.add(text);
    return tokens;
  }

  /** Returns the entry that an action must cause; by default, an action of the administrator. */
  by(kind: EntryKind, type: string, id: string, data: Wanted['data'] = {}, actor = this.adminId): Wanted {
    return { kind, actor, subject: { type, id }, data };
  }

  /** Returns the entry that an operation must cause, as `by` does. */
  through(operation: OperationId, ...entry: Parameters<CriticalOperator['by']>): Wanted {
    return { ...this.by(...entry), through: operation };
  }

  /** Returns all leaves, or those of one kind. */
  async leaves(kind?: EntryKind): Promise<Leaf[]> {
    const query = `per_page=1000${kind === undefined ? '' : `&kind=${kind}`}`;
    const body = (await this.ask('listEntries', { query })) as Page;
    return body.data.map(({ attributes }) => attributes as unknown as Leaf);
  }

  /** Returns the one entry of this kind and subject, once the outbox has delivered it. */
  async theOnly(wanted: Subject): Promise<Leaf> {
    for (let tries = 0; tries < 300; tries++) {
      const found = (await this.leaves(wanted.kind)).filter((leaf) => isOf(wanted, leaf));
      if (found.length > 1) throw new Error(`${found.length} entries ${JSON.stringify(wanted)}`);
      if (found[0] !== undefined) return found[0];
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`no entry ${wanted.kind} of ${wanted.subject.id}`);
  }

  /**
   * Returns the audit records that name the entry, once there are any; an empty list after three seconds. The audit
   * record of a failed operation takes up to a second.
   */
  async recordsOf({ id }: Entry): Promise<readonly AuditRecord[]> {
    for (let tries = 0; tries < 60; tries++) {
      const { data } = (await this.ask('listAuditRecords', { query: `entry_id=${id}` })) as Page;
      if (data.length > 0) return data.map(({ attributes }) => attributes as AuditRecord);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return [];
  }

  /** Verifies the listed bytes of the entry against the signed head. */
  async proven({ leaf_index, canonical, entry }: Leaf): Promise<void> {
    const log = httpLog(this.service.url, { token: this.token });
    const signed = await fetchHead(log);
    if (signed instanceof AuditFault) throw signed;
    const shown = await proveEntry(log, { leafIndex: leaf_index }, signed);
    if (shown instanceof AuditFault) throw shown;
    expect([shown.entry.id, Buffer.from(shown.canonical).toString('base64')]).toEqual([entry.id, canonical]);
  }

  /** Raises an alert with this Suricata signature, which must not be used elsewhere, and returns the alert's id. */
  async raise(signature: number, severity: number): Promise<string> {
    const record = {
      timestamp: '2026-11-20T10:00:00.000000+0000',
      event_type: 'alert',
      src_ip: '10.0.0.1',
      src_port: 4711,
      dest_ip: '198.51.100.7',
      dest_port: 443,
      proto: 'TCP',
      alert: { gid: 1, signature_id: signature, rev: 1, signature: `Rule ${signature}`, severity },
    };
    await send(this.service, this.token, JSON.stringify(record));
    const body = (await this.ask('listAlerts', { query: `rule_id=1:${signature}` })) as Page;
    return body.data[0]!.id;
  }

  async provision(name: string, roles: readonly string[], password?: string): Promise<Item> {
    if (password !== undefined) this.secrets.add(password);
    const json = { name, kind: 'user', roles, ...(password === undefined ? {} : { password }) };
    return itemOf(await this.ask('createPrincipal', { json }, 201));
  }

  /** Issues a long-lived token and returns its jti. */
  async issue(name: string): Promise<string> {
    const { id, attributes } = itemOf(await this.ask('issueToken', { json: { name, scopes: ['viewer'] } }, 201));
    const token = String(attributes.token);
    this.secrets.add(token).add(secretIn(token));
    return id;
  }

  /** Returns the rules in effect, but with these roles for one operation. */
  async rulesWith(operation: OperationId, roles: AccessRule['roles']): Promise<AccessRule[]> {
    const rules = itemOf(await this.ask('getPolicy')).attributes.rules as AccessRule[];
    return rules.map((rule) => (rule.operation === operation ? { ...rule, roles } : rule));
  }

  activeKey = (purpose: string): Promise<string> => this.keyThatIs('active', purpose);

  async keyThatIs(state: string, purpose: string): Promise<string> {
    const { data } = (await this.ask('listKeys', { query: `state=${state}&purpose=${purpose}` })) as Page;
    return data[0]!.id;
  }

  /** Counts the administrator's audit records of successful revocations and updates of this type of resource. */
  async auditedChanges(type: string): Promise<number> {
    const operations = ['revokeToken', 'updatePrincipal', 'updatePolicy'];
    const filter = new URLSearchParams({ actor: this.adminId, outcome: 'success', per_page: '1000' });
    for (const operation of operations) filter.append('operation', operation);
    const { data } = (await this.ask('listAuditRecords', { query: filter })) as Page;
    return data.filter(({ attributes }) => (attributes.resource as { type: string }).type === type).length;
  }
}
