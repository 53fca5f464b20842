import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operationIds, routeOf } from '../../src/contract/routes.ts';
import { Routes } from '../../src/http/match.ts';

const route = (method: string, path: string) => ({ method, path });

describe('matching', () => {
  const routes = new Routes([
    route('GET', '/'),
    route('GET', '/a/:id'),
    route('PUT', '/a/:id'),
    route('POST', '/a/bulk'),
    route('GET', '/a/:id/notes/:note'),
    route('GET', '/a/bulk/list'),
  ]);

  test('prefers a literal segment to a parameter, which is tried if the rest of the literal route does not match', () => {
    expect(routes.match('POST', '/a/bulk')).toMatchObject({ found: 'route', route: { path: '/a/bulk' } });
    expect(routes.match('GET', '/a/bulk/list')).toMatchObject({ route: { path: '/a/bulk/list' } });
    const back = routes.match('GET', '/a/bulk/notes/7');
    expect(back).toMatchObject({ found: 'route', route: { path: '/a/:id/notes/:note' } });
    if (back.found === 'route')
      expect([...back.params]).toEqual([
        ['id', 'bulk'],
        ['note', '7'],
      ]);
  });

  test('rejects empty parameters, and compares segments as sent', () => {
    for (const path of ['', '/a', '/a/', '/a//notes/1', '/A/1', '/%61/1', '/a/1/', '//a/1', '/a/1/notes']) {
      expect([path, routes.match('GET', path).found]).toEqual([path, 'nothing']);
    }
    expect(routes.match('GET', '/').found).toBe('route');
  });

  test('returns the allowed methods of a path that exists for other methods', () => {
    expect(routes.match('DELETE', '/a/1')).toEqual({ found: 'path', allow: 'GET, PUT, HEAD, OPTIONS' });
    expect(routes.match('GET', '/a/bulk')).toEqual({ found: 'path', allow: 'POST, OPTIONS' });
    expect(routes.match('get', '/a/1').found).toBe('path');
  });

  test('assigns the rest of the path as sent to a parameter with a star, if no other route matches', () => {
    const tiles = new Routes([route('GET', '/t/:tile*'), route('GET', '/t/entries/:bundle*'), route('GET', '/t/:a/x')]);
    const found = (path: string) => {
      const match = tiles.match('GET', path);
      return match.found === 'route' ? [match.route.path, ...match.params.values()] : match.found;
    };
    expect(found('/t/0/x001/234.p/5')).toEqual(['/t/:tile*', '0/x001/234.p/5']);
    expect(found('/t/entries/x001/234')).toEqual(['/t/entries/:bundle*', 'x001/234']);
    expect(found('/t/entries')).toEqual(['/t/:tile*', 'entries']);
    expect(found('/t/0/x')).toEqual(['/t/:a/x', '0']);
    expect(found('/t/%65ntries/%2e%2e')).toEqual(['/t/:tile*', '%65ntries/%2e%2e']);
    expect(found('/t/%zz')).toEqual(['/t/:tile*', '%zz']);
    expect(found('/t/entries//')).toEqual(['/t/:tile*', 'entries//']);
    for (const path of ['/t', '/t/', '/t//0', '/T/0']) expect([path, found(path)]).toEqual([path, 'nothing']);
  });

  test('throws an error for a duplicate route', () => {
    expect(() => new Routes([route('GET', '/x/:a'), route('GET', '/x/:b')])).toThrow('two routes');
    expect(() => new Routes([route('GET', '/x/:a*'), route('GET', '/x/:b*')])).toThrow('two routes');
  });
});

test('every operation of the contract is found at its path, for any parameters', () => {
  const routes = new Routes(operationIds.map((operation) => ({ operation, ...routeOf(operation) })));
  const value = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(fc.constantFrom(...operationIds), value, (operation, text) => {
      // With these texts as a parameter, the path may be the path of another operation.
      fc.pre(text !== 'stream' && text !== '.' && text !== '..');
      const { method, path } = routeOf(operation);
      const sent = encodeURIComponent(text);
      const match = routes.match(method, path.replace(/:\w+\*?/, sent));
      expect(match).toMatchObject({ found: 'route', route: { operation } });
      const wanted = path.endsWith('*') ? sent : text;
      if (match.found === 'route') for (const param of match.params.values()) expect(param).toBe(wanted);
    }),
  );
});
