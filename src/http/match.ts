import { invalidField } from '../errors.ts';

/**
 * A path pattern, such as `/api/v1/alerts/:alert_id/notes`. A parameter matches one whole segment; a final
 * parameter with a star after its name (`/tile/:tile*`) matches all remaining segments.
 */
export interface Pattern {
  readonly method: string;
  readonly path: string;
}

export type Match<P> =
  | { readonly found: 'route'; readonly route: P; readonly params: ReadonlyMap<string, string> }
  /** The path exists only for other methods; `allow` lists them, including HEAD and OPTIONS. */
  | { readonly found: 'path'; readonly allow: string }
  | { readonly found: 'nothing' };

/** A node of the path tree, for one segment. A literal segment takes precedence over a parameter. */
interface Node<P> {
  readonly literals: Map<string, Node<P>>;
  parameter: Node<P> | undefined;
  /** A parameter that matches all remaining segments. */
  rest: Node<P> | undefined;
  readonly routes: Map<string, { route: P; names: readonly string[] }>;
  allow: string;
}

/**
 * Finds routes by path. The time is proportional to the path's length and independent of the number of
 * routes.
 */
export class Routes<P extends Pattern> {
  readonly #root: Node<P> = node();

  constructor(routes: readonly P[]) {
    for (const route of routes) this.#add(route);
  }

  /**
   * Finds the route of a request. HEAD is matched as GET. Segments are compared as sent. Parameters are
   * decoded, except a parameter for all remaining segments; if the percent-encoding is broken, throws
   * INVALID_REQUEST that names the parameter.
   */
  match(method: string, path: string): Match<P> {
    const values: string[] = [];
    const found = find(this.#root, path.split('/'), 1, values);
    if (found === undefined) return { found: 'nothing' };
    const entry = found.routes.get(method === 'HEAD' ? 'GET' : method);
    if (entry === undefined) return { found: 'path', allow: found.allow };
    const params = new Map(entry.names.map((name, n) => parameterOf(name, values[n] ?? '')));
    return { found: 'route', route: entry.route, params };
  }

  #add(route: P): void {
    const names: string[] = [];
    let at = this.#root;
    for (const segment of route.path.split('/').slice(1)) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1));
        const kind = segment.endsWith('*') ? 'rest' : 'parameter';
        at[kind] ??= node();
        at = at[kind];
      } else {
        const next = at.literals.get(segment) ?? node();
        at.literals.set(segment, next);
        at = next;
      }
    }
    if (at.routes.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    at.routes.set(route.method, { route, names });
    const methods = [...at.routes.keys()];
    at.allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  }
}

function node<P>(): Node<P> {
  return { literals: new Map(), parameter: undefined, rest: undefined, routes: new Map(), allow: '' };
}

function find<P>(at: Node<P>, segments: readonly string[], n: number, values: string[]): Node<P> | undefined {
  const segment = segments[n];
  if (segment === undefined) return at.routes.size > 0 ? at : undefined;
  const literal = at.literals.get(segment);
  const found = literal && find(literal, segments, n + 1, values);
  if (found !== undefined || segment === '') return found;
  if (at.parameter !== undefined) {
    values.push(segment);
    const deeper = find(at.parameter, segments, n + 1, values);
    if (deeper !== undefined) return deeper;
    values.pop();
  }
  if (at.rest !== undefined) values.push(segments.slice(n).join('/'));
  return at.rest;
}

function parameterOf(name: string, raw: string): readonly [name: string, value: string] {
  return name.endsWith('*') ? [name.slice(0, -1), raw] : [name, decode(name, raw)];
}

function decode(name: string, raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw invalidField(name, 'has broken percent-encoding');
  }
}
