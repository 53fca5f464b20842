import type { IntelList } from '../../contract/resources/intel-list.ts';
import { routes } from '../../contract/routes.ts';
import { validateBody } from '../../contract/validate.ts';
import type { IntelContent } from '../../detect/store/intel/intel-row.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import type { Pool, RunOptions } from '../../rpc/pool.ts';
import type { Actor, IntelChanged, ListPage, ListQuery, Store, StoreReader } from '../../store/store.ts';
import type { IntelTasks, ReadIntel } from './tasks.ts';

interface IntelParts {
  readonly reader: Pick<StoreReader, 'getIntel'>;
  readonly writer: Pick<Store, 'createIntel' | 'changeIntel' | 'removeIntel'>;
  readonly tasks: Pick<Pool<IntelTasks>, 'run'>;
  /** `network.home`: addresses in these networks are never treated as malicious. */
  readonly home: readonly string[];
  /** Returns the time in epoch milliseconds. */
  now(): number;
}

/**
 * Processes threat intelligence lists, from the request body to the store:
 *
 * ```
 *   bytes ─► parse, extract and index indicators ─► validate ─► row, index, entry: one transaction ─► in effect
 *                     (analytics pool)                                       (store)
 * ```
 *
 * The class has no state. Bodies are transferred, so the caller's buffers are detached.
 */
export class IntelLists {
  readonly #parts: IntelParts;

  constructor(parts: IntelParts) {
    this.#parts = parts;
  }

  /** Creates a list. @throws INVALID_REQUEST naming the field; CONFLICT if a limit on lists or indicators is reached */
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
    return this.#parts.writer.createIntel(terms, usable(content)!, by);
  }

  /**
   * Changes a list.
   *
   * @throws NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST naming the field; CONFLICT if a limit on lists or indicators
   *   is reached
   */
  async update(id: string, bytes: ArrayBuffer, by: Actor, version?: number): Promise<IntelChanged> {
    const { rest, content } = await this.#read(bytes);
    const input = validateBody(routes.updateIntel, withContent(rest, content));
    const { content: _, format, ...change } = input;
    const read = usable(content);
    if (read === undefined && format !== undefined) throw invalidField('format', 'requires content');
    const terms = {
      ...(version === undefined ? {} : { version }),
      ...(read === undefined ? {} : { content: read }),
    };
    return this.#parts.writer.changeIntel(id, change, by, terms);
  }

  /** Removes a list. @throws NOT_FOUND; VERSION_MISMATCH */
  async remove(id: string, by: Actor, version?: number): Promise<void> {
    await this.#parts.writer.removeIntel(id, by, version);
  }

  /** Returns a list. @throws NOT_FOUND */
  get(id: string): { readonly id: string; readonly list: IntelList } {
    const found = this.#parts.reader.getIntel(id, this.#parts.now());
    if (found === undefined) throw notFound(id);
    return found;
  }

  list(query: ListQuery, options: RunOptions): Promise<ListPage> {
    return this.#parts.tasks.run('listIntel', query, options);
  }

  /** Returns a page of the indicators of a list. @throws NOT_FOUND */
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

/** Returns the body for validation. The content, if any, is replaced with an empty text. */
function withContent(rest: unknown, content: ReadIntel['content']): unknown {
  return content === undefined ? rest : { ...(rest as object), content: '' };
}

function usable(content: ReadIntel['content']): IntelContent | undefined {
  if (content !== undefined && 'fault' in content) throw invalidField('content', content.fault);
  return content;
}

const notFound = (id: string) => new ServiceError('NOT_FOUND', `there is no intel list ${id}`);
