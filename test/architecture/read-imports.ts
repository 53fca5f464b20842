/** The imports of the sources, as the tests of the architecture look at them. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const root = new URL('../..', import.meta.url).pathname;

export interface Import {
  readonly file: string;
  readonly from: string;
  readonly typesOnly: boolean;
  /** `import('…')`: only when the code comes to it. */
  readonly dynamic: boolean;
}

const statement =
  /^\s*(?:import|export)\s+(?:(type)\s+)?(?:([^'";]*?)\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

export function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...text.matchAll(statement)].map(([, type, names = '', from, dynamic]) => ({
    file,
    from: (from ?? dynamic)!,
    typesOnly: type !== undefined || /^\{(\s*type\s[^,}]+,?)+\s*\}$/.test(names.trim()),
    dynamic: dynamic !== undefined,
  }));
}

/** Every source of the product, relative to the project's root. */
export const files = globSync(['src/**/*.{ts,tsx}', 'workers/**/*.ts'], { cwd: root }).toSorted();

/** The file under the project's root that a relative import names; undefined for packages. */
export function target({ file, from }: Pick<Import, 'file' | 'from'>): string | undefined {
  return from.startsWith('.') ? normalize(join(dirname(file), from)) : undefined;
}
