import type { IntelList } from '../../contract/resources/intel-list.ts';
import { routes } from '../../contract/routes.ts';
import { validateBody } from '../../contract/validate.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import type { Pool, RunOptions } from '../../rpc/pool.ts';
import type { IntelContent } from '../../store/intel-row.ts';
import type { Actor, IntelChanged, ListPage, ListQuery, Store, StoreReader } from '../../store/store.ts';
import type { IntelTasks, ReadIntel } from './tasks.ts';

interface IntelParts {
  readonly reader: Pick<StoreReader, 'getIntel'>;
  readonly writer: Pick<Store, 'createIntel' | 'changeIntel' | 'removeIntel'>;
  readonly tasks: Pick<Pool<IntelTasks>, 'run'>;
  /** `network.home`: what is our own is not known to be bad. */
  readonly home: readonly string[];
  /** Epoch milliseconds. */
  now(): number;
  /** A list changed, and the entry of that waits in the outbox. */
  onChange(): void;
}

/**
 * Lists of known-bad addresses and domains, from the body of a request to the store:
 *
 * ```
 *   bytes ─► parse, read what it names, index it ─► validate ─► row, index, entry: one transaction ─► in effect
 *            (analytics pool)                                   (store)
 * ```
 *
 * Nothing is kept here. Bodies are moved: the caller's are detached.
 */
export class IntelLists {
  readonly #parts: IntelParts;

  constructor(parts: IntelParts) {
    this.#parts = parts;
  }

  /** @throws INVALID_REQUEST that names the field; CONFLICT where there is no room */
  async create(bytes: ArrayBuffer, by: Actor): Promise<IntelChanged> {
    const { rest, content } = await this.#read(bytes);
    const input = validateBody(routes.createIntel, withContent(rest, content));
    const { content: _, format: __, severity = 'high', enabled = true, description, source, ...more } = input;
    const terms = {
      ...more,
      severity,
      enabled,
      ...(description ? { description } : {}),
      ...(source ? { source } : {}),
    };
    const created = await this.#parts.writer.createIntel(terms, usable(content)!, by);
    this.#parts.onChange();
    return created;
  }

  /** @throws NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST that names the field; CONFLICT where there is no room */
  async update(id: string, bytes: ArrayBuffer, by: Actor, version?: number): Promise<IntelChanged> {
    const { rest, content } = await this.#read(bytes);
    const input = validateBody(routes.updateIntel, withContent(rest, content));
    const { content: _, format, ...change } = input;
    const read = usable(content);
    if (read === undefined && format !== undefined)
      throw invalidField('format', 'is that of the content, which is not given');
    const terms = {
      ...(version === undefined ? {} : { version }),
      ...(read === undefined ? {} : { content: read }),
    };
    const changed = await this.#parts.writer.changeIntel(id, change, by, terms);
    if (changed.unchanged !== true) this.#parts.onChange();
    return changed;
  }

  /** @throws NOT_FOUND; VERSION_MISMATCH */
  async remove(id: string, by: Actor, version?: number): Promise<void> {
    await this.#parts.writer.removeIntel(id, by, version);
    this.#parts.onChange();
  }

  /** @throws NOT_FOUND */
  get(id: string): { readonly id: string; readonly list: IntelList } {
    const found = this.#parts.reader.getIntel(id, this.#parts.now());
    if (found === undefined) throw notFound(id);
    return found;
  }

  list(query: ListQuery, options: RunOptions): Promise<ListPage> {
    return this.#parts.tasks.run('listIntel', query, options);
  }

  /** @throws NOT_FOUND */
  async indicators(id: string, query: ListQuery, options: RunOptions): Promise<ListPage> {
    const page = await this.#parts.tasks.run('listIndicators', { id, query }, options);
    if (page === undefined) throw notFound(id);
    return page;
  }

  #read(bytes: ArrayBuffer): Promise<ReadIntel> {
    const { tasks, home } = this.#parts;
    return tasks.run('readIntel', { bytes, home });
  }
}

/** The body as it is validated: its content stands for itself, whatever it is. */
function withContent(rest: unknown, content: ReadIntel['content']): unknown {
  return content === undefined ? rest : { ...(rest as object), content: '' };
}

function usable(content: ReadIntel['content']): IntelContent | undefined {
  if (content !== undefined && 'fault' in content) throw invalidField('content', content.fault);
  return content;
}

const notFound = (id: string) => new ServiceError('NOT_FOUND', `there is no intel list ${id}`);
