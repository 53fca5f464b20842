/** An auditor's view of a ledger in this process, and its entries about keys. */
import { AuditFault } from '../../src/client/fault.ts';
import { EmptyLog, type LogSource, NotFound } from '../../src/client/log-source.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { ServiceError } from '../../src/errors.ts';
import { keyHistoryKinds, writeLeaf } from '../../src/http/log-entries.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';

/** Returns a source that responds like the service. Other paths return not found. */
export function sourceOf(ledger: Ledger): LogSource {
  const answer = async (target: string): Promise<string | AuditFault> => {
    const { pathname, searchParams } = new URL(target, 'http://log');
    switch (pathname) {
      case '/api/transparency/sth':
        return writeTreeHead(await ledger.head());
      case '/.well-known/jwks.json':
        return JSON.stringify({ keys: await ledger.keys() });
      case '/api/transparency/consistency': {
        const [first, second] = ['first', 'second'].map((name) => Number(searchParams.get(name)));
        return JSON.stringify(await ledger.consistency(first!, second!));
      }
      case '/api/transparency/inclusion': {
        const [leaf_index, size] = ['leaf_index', 'tree_size'].map((name) => Number(searchParams.get(name)));
        return JSON.stringify(await ledger.inclusion({ leaf_index: leaf_index! }, size));
      }
      case '/api/transparency/sths': {
        const [from_size, to_size] = ['from_size', 'to_size'].map((name) => searchParams.get(name));
        const sizes = { ...(from_size && { from_size: +from_size }), ...(to_size && { to_size: +to_size }) };
        const { heads } = await ledger.heads({ ...sizes, page: 1, per_page: 1000 });
        return listOf(heads.map((head) => writeTreeHead(head)));
      }
      case '/api/transparency/key-history': {
        const { leaves } = await ledger.entries({ kinds: keyHistoryKinds, page: 1, per_page: 1000 });
        return listOf(leaves.map(writeLeaf));
      }
      default:
        return new NotFound('HTTP_REFUSED', `${pathname}: 404`);
    }
  };
  const get = (path: string) =>
    answer(path).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      return error.code === 'LOG_EMPTY'
        ? new EmptyLog('HTTP_REFUSED', path)
        : new AuditFault('HTTP_REFUSED', error.message);
    });
  return {
    url: 'http://log',
    get,
    getBytes: async (path) => {
      const text = await get(path);
      return text instanceof AuditFault ? text : new TextEncoder().encode(text);
    },
  };
}

/** Formats the only page of a list. */
function listOf(attributes: readonly string[]): string {
  const items = attributes.map((one) => `{"attributes":${one}}`);
  return `{"data":[${items.join(',')}],"pagination":{"page":1,"total_pages":1}}`;
}

export interface KeyEntry {
  readonly index: number;
  readonly kind: string;
  readonly actor: string;
  readonly subject: { readonly type: string; readonly id: string };
  readonly data: Record<string, unknown>;
  readonly key_id: string;
}

/** Returns the entries of kinds `key.*`, in the order of the log. */
export async function keyEntries(ledger: Pick<Ledger, 'status' | 'leaf'>): Promise<KeyEntry[]> {
  const { size } = await ledger.status();
  const entries: KeyEntry[] = [];
  for (let index = 0; index < size; index++) {
    const { canonical } = await ledger.leaf({ leaf_index: index });
    const entry = JSON.parse(new TextDecoder().decode(canonical)) as KeyEntry;
    if (entry.kind.startsWith('key.')) entries.push({ ...entry, index });
  }
  return entries;
}
